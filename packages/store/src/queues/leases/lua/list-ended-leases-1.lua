-- Lists leases that are over. While no API serves the shard, none is.
-- @key base: of the shard
-- @arg leases_max: number
-- Returns the ARNs.
-- @include now
-- @include queue-lease
if not is_served(base) then return {} end
return redis.call('ZRANGEBYSCORE', base .. 'queues:leased', '-inf', now_ms(base), 'LIMIT', 0, leases_max)
