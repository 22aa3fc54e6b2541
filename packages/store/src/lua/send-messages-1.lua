-- Stores items in a queue; one whose id was given and is known already is left out.
-- KEYS[1] base
-- ARGV: arn, '1' to store them even when memory is full, then the values of each item (queue-store.lua)
-- Returns false where there is no such queue, else for each item: id, sequence number or '', 1 stored or 0 known.
-- @include now
-- @include when-full
-- @include queue
-- @include queue-store
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
if ARGV[2] == '1' then run_when_full(base) end
keep_clock(queue)
local results, any = {}, false
for at = 2, #ARGV - 1, ITEM_VALUES do
  local stored = store_item(queue, at)
  any = any or stored
  results[#results + 1] = { ARGV[at + 1], '', stored and 1 or 0 }
end
if any then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return results
