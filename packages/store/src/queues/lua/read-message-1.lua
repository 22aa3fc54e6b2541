-- One message, whatever its state.
-- KEYS[1] base
-- ARGV: arn, id
-- Returns false where there is no such queue or message, else the item (queue.lua).
-- @include queue
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
local age = tonumber(redis.call('ZSCORE', queue.q .. 'age', ARGV[2]))
if not age or age <= queue.clock - queue.retention then return false end
return item_of(queue, ARGV[2])
