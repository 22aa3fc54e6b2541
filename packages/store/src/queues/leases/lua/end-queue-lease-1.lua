-- Begins the end of a lease that is over. From now on no receive renews it.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg ends: number, ms, as read
-- Returns 1, or 0 if the lease was renewed or granted again, or is not over, or if no API serves the shard.
-- @include now
-- @include when-full
-- @include queue-lease
local key = base .. 'queues:leased'
run_when_full(base)
if not is_served(base) or ends > now_ms(base) then return 0 end
if tonumber(redis.call('ZSCORE', key, arn) or '') ~= ends then return 0 end
redis.call('ZADD', key, NUMBER.DELETING, arn)
return 1
