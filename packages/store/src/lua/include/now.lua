-- Epoch ms by Redis's own clock plus the offset that tests set: the one source of time.
local function now_ms(base)
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  local skew = redis.call('GET', base .. 'skew')
  if skew then now = now + tonumber(skew) end
  return now
end
