-- Lists leases that are over. Time in which no API served the queues does not count: Redis or all APIs were away, or
-- the clock was set forward. All leases of the shard are extended by it. It is measured by the clock of Redis without
-- the skew, so time travel does not look like an outage.
-- @key base: of the shard
-- @arg served_since: number?, ms, start of the oldest API that runs; nil: none runs
-- @arg gap_ms: number, a longer time between two lists is an outage
-- @arg leases_max: number
-- Returns the ARNs.
-- @include now
-- @include when-full
-- @include queue-lease
local key, looked = base .. 'queues:leased', base .. 'queues:leased:at'
run_when_full(base)
local clock = redis.call('TIME')
if not served_since then return {} end
local at = clock[1] * 1000 + math.floor(clock[2] / 1000)
local before = tonumber(redis.call('GET', looked) or '') or at
redis.call('SET', looked, string.format('%.0f', at))
local away = at - before
if away > gap_ms or served_since > before then
  local leases = redis.call('ZRANGEBYSCORE', key, '(' .. DELETING, '+inf', 'WITHSCORES')
  for i = 1, #leases, 2 do redis.call('ZADD', key, leases[i + 1] + math.max(away, 0), leases[i]) end
end
return redis.call('ZRANGEBYSCORE', key, '-inf', now_ms(base), 'LIMIT', 0, leases_max)
