-- Starts or renews the lease of a queue, for an API. A lease that is over is renewed by a receive until the sweep
-- begins to delete the queue.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg lease_ms: number
-- @arg only_renew: flag, a receive: do nothing without a lease
-- Returns 1, or 0 if the queue is being deleted, or if a new queue must not take over a lease that is over.
-- @include now
-- @include when-full
-- @include queue-lease
local key = base .. 'queues:leased'
run_when_full(base)
note_service(base)
local now = now_ms(base)
local ends = tonumber(redis.call('ZSCORE', key, arn) or '')
if ends and (ends == NUMBER.DELETING or ends <= now and not only_renew) then return 0 end
if ends or not only_renew then redis.call('ZADD', key, now + lease_ms, arn) end
return 1
