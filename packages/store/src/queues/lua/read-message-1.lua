-- One message in any state.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg id: text
-- Returns false if there is no such queue or message, else the item (queue.lua).
-- @include queue
local queue = open_queue(base, arn)
if not queue then return false end
local age = tonumber(redis.call('ZSCORE', queue.q .. 'age', id))
if not age or age <= queue.clock - queue.retention then return false end
return item_of(queue, id)
