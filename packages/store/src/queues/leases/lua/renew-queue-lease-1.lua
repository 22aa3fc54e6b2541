-- Starts or renews the lease of a queue. A lease that has ended is not renewed, because the queue is being deleted.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg lease_ms: number
-- @arg only_renew: flag, do nothing without a lease
-- Returns 1, or 0 if the lease has ended.
-- @include now
-- @include when-full
local key = base .. 'queues:leased'
run_when_full(base)
local now = now_ms(base)
local ends = redis.call('ZSCORE', key, arn)
if ends and tonumber(ends) <= now then return 0 end
if ends or not only_renew then redis.call('ZADD', key, now + lease_ms, arn) end
return 1
