-- How many dead letters a queue holds, by kind.
-- @key base: of the queue's shard
-- @arg arn: text
-- Returns false if there is no such queue, else field, count, …: `r:` reason, `k:` status code, `u:` subscription.
-- @include queue
local queue = open_queue(base, arn)
if not queue then return false end
return redis.call('HGETALL', queue.q .. 'dead')
