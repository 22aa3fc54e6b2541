-- Time in which no API served the queues of a shard does not count for their leases: Redis or all APIs were away, or
-- the clock was set forward. APIs note every few seconds that they serve. The times are those of Redis without the
-- skew, so that time travel does not look like an outage.

-- Returns the ms since an API served the shard, nil if none has, and the time now.
local function unserved(base)
  local clock = redis.call('TIME')
  local at = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local served = tonumber(redis.call('GET', base .. 'queues:leased:at') or '')
  return served and at - served, at
end

-- Whether an API has served the shard lately. If not, the next API extends the leases.
local function is_served(base)
  local gap = unserved(base)
  return gap and gap <= NUMBER.UNSERVED_MAX_MS
end

-- Notes that an API serves the shard. After an outage it extends all leases.
local function note_service(base)
  local gap, at = unserved(base)
  if gap and gap > NUMBER.UNSERVED_MAX_MS then
    local key = base .. 'queues:leased'
    local leases = redis.call('ZRANGEBYSCORE', key, '(' .. NUMBER.DELETING, '+inf', 'WITHSCORES')
    for i = 1, #leases, 2 do redis.call('ZADD', key, leases[i + 1] + gap, leases[i]) end
  end
  redis.call('SET', base .. 'queues:leased:at', string.format('%.0f', at))
end
