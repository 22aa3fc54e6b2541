-- Lists leases that are over. Time in which no API served the queues does not count: Redis or all APIs were away, or
-- the clock was set forward. All leases of the shard are extended by it.
-- @key base: of the shard
-- @arg served_since: number?, ms, start of the oldest API that runs; nil: none runs
-- @arg gap_ms: number, a longer time between two lists is an outage
-- @arg leases_max: number
-- Returns the ARNs.
-- @include now
-- @include when-full
-- @include queue-lease
local key = base .. 'queues:leased'
run_when_full(base)
if not served_since then return {} end
local stored = tonumber(redis.call('GET', base .. 'queues:leased:at') or '')
local at = note_look(base)
local before = stored or at
local away = at - before
if away > gap_ms or served_since > before then
  local leases = redis.call('ZRANGEBYSCORE', key, '(' .. NUMBER.DELETING, '+inf', 'WITHSCORES')
  for i = 1, #leases, 2 do redis.call('ZADD', key, leases[i + 1] + math.max(away, 0), leases[i]) end
end
return redis.call('ZRANGEBYSCORE', key, '-inf', now_ms(base), 'LIMIT', 0, leases_max)
