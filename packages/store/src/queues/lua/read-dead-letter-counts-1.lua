-- How many dead letters a queue holds, by kind.
-- KEYS[1] base
-- ARGV: arn
-- Returns false where there is no such queue, else field, count, …: `r:` reason, `k:` status code, `u:` subscription.
-- @include queue
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
return redis.call('HGETALL', queue.q .. 'dead')
