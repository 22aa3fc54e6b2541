-- Stores items in a queue; one whose id was given and is known already is left out.
-- KEYS[1] base
-- ARGV: arn, '1' to store them even when memory is full, then 14 values an item (queue-store.lua)
-- Returns the number stored, or false where there is no such queue.
-- @include now
-- @include when-full
-- @include queue
-- @include queue-store
local ITEM_VALUES = 14
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
if ARGV[2] == '1' then run_when_full(base) end
keep_clock(queue)
local stored = 0
for at = 2, #ARGV - 1, ITEM_VALUES do
  if store_item(queue, at) then stored = stored + 1 end
end
if stored > 0 then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return stored
