-- Makes a delivery wait again. A delivery without a retry state goes back to the fresh ones. Its due time is its
-- publishing time, but never in the future. It is then before deliveries that were parked later, unless a delay is
-- given.
-- @include lane-next
-- @include lane-state
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

-- Ended leases of a lane that one script returns. Past it: the next script returns the others.
local RETURNS_MAX = 100
-- If the lease of a delivery ends again and again, the delivery may be what kills its workers. From the second end in a
-- row on it waits, each time longer. After the first end it continues at once, because a worker may have died for any
-- reason.
local ENDS_DELAYED_FROM = 2
-- First pause of a delivery whose leases end again and again. The pause doubles with each end.
local ENDS_MS_MIN = 1000
-- Longest pause of a delivery whose leases end again and again.
local ENDS_MS_MAX = 300000

-- Returns the state to be stored.
local function return_ended_lease(base, id, delivery, stored, now)
  local state, ends = split_state(stored)
  ends = ends + 1
  if ends < ENDS_DELAYED_FROM then
    put_back(base, id, delivery, state, now)
  else
    local delay = math.min(ENDS_MS_MAX, ENDS_MS_MIN * 2 ^ (ends - ENDS_DELAYED_FROM))
    redis.call('ZREM', base .. 'lease:' .. id, delivery)
    -- Not among the fresh deliveries, because these must be due when they are parked.
    redis.call('ZADD', base .. 'retry:' .. id, text(now + delay), delivery)
  end
  return (state or '') .. ENDS_SIGN .. ends
end

-- Returns deliveries whose leases end between two times, because their workers are gone. Returns how many, at most
-- RETURNS_MAX.
local function return_leases(base, id, from, to, now)
  local first, last = from * LEASE_UNIT, (to + 1) * LEASE_UNIT - 1
  local ids = redis.call('ZRANGEBYSCORE', base .. 'lease:' .. id, first, last, 'LIMIT', 0, RETURNS_MAX)
  if #ids == 0 then return 0 end
  local states = redis.call('HMGET', base .. 'state:' .. id, unpack(ids))
  local new_states = {}
  for i, delivery in ipairs(ids) do
    new_states[2 * i - 1] = delivery
    new_states[2 * i] = return_ended_lease(base, id, delivery, states[i], now)
  end
  redis.call('HSET', base .. 'state:' .. id, unpack(new_states))
  return #ids
end
