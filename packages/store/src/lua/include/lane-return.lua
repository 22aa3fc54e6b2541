-- Back to waiting. Without a retry state to the fresh, by the time of publishing: that is before what was parked after
-- it, and never in the future; unless it is to wait for some ms more.
local function published_at(delivery)
  local ms = struct.unpack('>I6', delivery) -- also returns a position, which must not go into a min()
  return ms
end

local function put_back(base, id, delivery, state, now, delay)
  redis.call('ZREM', base .. 'lease:' .. id, delivery)
  if state then
    redis.call('ZADD', base .. 'retry:' .. id, text(now + (delay or 0)), delivery)
  elseif delay and delay > 0 then
    redis.call('ZADD', base .. 'fresh:' .. id, text(now + delay), delivery)
  else
    redis.call('ZADD', base .. 'fresh:' .. id, math.min(now, published_at(delivery)), delivery)
  end
end

local RETURNS_MAX = 100

-- Leases that end from one ms to another: their workers are gone. Returns how many, at most RETURNS_MAX.
local function return_leases(base, id, from, to, now)
  local first, last = from * LEASE_UNIT, (to + 1) * LEASE_UNIT - 1
  local ids = redis.call('ZRANGEBYSCORE', base .. 'lease:' .. id, first, last, 'LIMIT', 0, RETURNS_MAX)
  if #ids == 0 then return 0 end
  local states = redis.call('HMGET', base .. 'state:' .. id, unpack(ids))
  for i, delivery in ipairs(ids) do
    put_back(base, id, delivery, states[i], now)
  end
  return #ids
end
