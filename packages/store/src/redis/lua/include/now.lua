-- Epoch ms by Redis's own clock, plus the offset that tests set. This is the only source of time. If the clock was set
-- back, the shard's time continues and is `clock_ahead` ms ahead of the clock (catch-up-1).
local clock_ahead = 0

local function now_ms(base)
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  local offsets = redis.call('MGET', base .. 'skew', base .. 'ahead')
  if offsets[1] then now = now + tonumber(offsets[1]) end
  if offsets[2] then clock_ahead = tonumber(offsets[2]) end
  return now + clock_ahead
end
