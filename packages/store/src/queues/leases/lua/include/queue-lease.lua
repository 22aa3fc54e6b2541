-- Notes the time of a look at the leases of a shard. It is that of Redis without the skew, so time travel does not look
-- like an outage. Returns it in ms.
local function note_look(base)
  local clock = redis.call('TIME')
  local at = clock[1] * 1000 + math.floor(clock[2] / 1000)
  redis.call('SET', base .. 'queues:leased:at', string.format('%.0f', at))
  return at
end
