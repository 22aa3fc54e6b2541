-- Removes a queue's lease and the list of the queue's topics, unless the lease was renewed or granted again.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg ends: number, ms, as read
-- Returns nothing
-- @include when-full
local key = base .. 'queues:leased'
run_when_full(base)
if tonumber(redis.call('ZSCORE', key, arn) or '') ~= ends then return end
redis.call('ZREM', key, arn)
redis.call('DEL', base .. 'queue:topics:' .. arn)
