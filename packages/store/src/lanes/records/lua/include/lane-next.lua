-- Reads a lane's settings, and computes the time at which it next needs a take. Every script that changes a lane calls
-- lane_next at its end. Slices are cached while a script runs, so a script must change a slice before its first
-- lane_next.
-- @include lane-throttle
-- How far ahead the end of an open circuit may lie, unless its probes are further apart. Past it: the clock was set
-- back, and the circuit counts as due for a probe.
local PROBE_LEASE_MS_MAX = 600000
-- Tokens of a lane's retry quota. Past it: successes add none.
local RETRY_QUOTA_MAX = 500
local RETRY_QUOTA_LEAST = 5
-- A lease is its end in ms times this, plus a number that makes it unique. In a FIFO lane it is odd.
local LEASE_UNIT = 2048
-- The mode of a blocked lane that has neither retry mode nor circuit breaker (lane-blocked).
local NO_MODE = '-'
-- The value of LANE.paused if the endpoint answered 410, and of LANE.blockedBy until a probe has shown that it is back.
local GONE = 'gone'
local slices = {}

local function slice_of(base, sid)
  local slice = slices[sid]
  if not slice then
    local h = redis.call('HMGET', base .. 'slice:' .. sid, SLICE.rate, SLICE.overrides, SLICE.retention,
      SLICE.revision)
    slice = { rate = tonumber(h[1]), fixed = h[2] == '1', ret = tonumber(h[3]), rev = h[4] or '' }
    slices[sid] = slice
  end
  return slice
end

-- Numbers are passed to Redis as texts that are cached. Each number among the arguments of a call takes as much time as
-- the call itself.
local texts = {}

local function text(number)
  local known = texts[number]
  if not known then
    known = string.format('%.17g', number)
    texts[number] = known
  end
  return known
end

-- A stored time that is further ahead than any script stores it was stored before the clock was set back. Returns
-- `now` for it.
local function now_if_too_far_ahead(time, now, ahead_max)
  return time > now + ahead_max and now or time
end

-- Reads the state of a lane's retry mode and circuit breaker (lane-pace.lua) into lane.pace. Returns the rate in force.
local function read_pace(base, id, mode, now, lane, rate)
  local h = redis.call('HMGET', base .. 'lane:' .. id, LANE.quota, LANE.paceNext, LANE.adaptiveRate, LANE.openUntil)
  local retries, probe_at = string.sub(mode, 1, 1), tonumber(h[4])
  local probe_ms = tonumber(string.match(mode, '(%d+)$')) or 0
  probe_at = probe_at and now_if_too_far_ahead(probe_at, now, math.max(probe_ms, PROBE_LEASE_MS_MAX))
  lane.pace = { probe_at = probe_at, bare = mode == NO_MODE }
  if retries ~= '-' then
    lane.pace.quota = tonumber(h[1]) or RETRY_QUOTA_MAX
    lane.pace.next = now_if_too_far_ahead(tonumber(h[2]) or 0, now, NUMBER.STORED_AHEAD_MAX_MS)
  end
  local adaptive = retries == 'a' and tonumber(h[3])
  if not adaptive then return rate end
  return rate and rate > 0 and math.min(rate, adaptive) or adaptive
end

-- nil: there is no such lane. rate and tat: of its throttle (lane-throttle).
-- fifo: '1', or '2' if several deliveries of a group may be sent at once, or false. proven: its endpoint is proven.
-- claims_modulo, max_in_flight and dlq are only read for claims.
local function lane_of(base, id, now, to_claim)
  local key, h = base .. 'lane:' .. id, nil
  if to_claim then
    h = redis.call('HMGET', key, CLAIM_READ.all)
  else
    h = redis.call('HMGET', key, LANE_READ.all)
  end
  local sid = h[LANE_READ.slice]
  if not sid then return nil end
  local slice, deleted, mode = slice_of(base, sid), h[LANE_READ.deleted] == '1', h[LANE_READ.mode]
  local lane = {
    sid = sid, slice = slice, deleted = deleted, paused = (h[LANE_READ.paused] or '') ~= '' and not deleted,
    fifo = h[LANE_READ.fifo], proven = h[LANE_READ.proven] == '1',
    claims_modulo = tonumber(h[CLAIM_READ.claimsModulo]) or 0,
    max_in_flight = tonumber(h[CLAIM_READ.maxInFlight]) or 32, dlq = h[CLAIM_READ.hasDlq] == '1',
    rate = false, tat = false, leased = false, pace = false, groups = h[LANE_READ.groupRates],
  }
  local rate = rate_of(h[LANE_READ.rate], slice)
  if mode then rate = read_pace(base, id, mode, now, lane, rate) end
  if rate and rate > 0 then set_rate(base, lane, rate, h[LANE_READ.tat], now) end
  return lane
end

local function head_of(key)
  return tonumber(redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
end

local function earlier(a, b)
  if not a then return b end
  return b and math.min(a, b) or a
end

-- When the first lease of a lane ends.
local function first_lease_end(base, id)
  local lease = head_of(base .. 'lease:' .. id)
  return lease and math.floor(lease / LEASE_UNIT)
end

-- Due times of the first waiting delivery and of the first lease. If one has passed, the other is not needed.
local function heads_of(base, id, now)
  local waiting = head_of(base .. 'fresh:' .. id)
  if not waiting or waiting > now then waiting = earlier(waiting, head_of(base .. 'retry:' .. id)) end
  return waiting, first_lease_end(base, id)
end

-- The same for a lane with a retry mode or circuit breaker. Retries also wait for the quota.
local function paced_heads(base, id, now, pace)
  local fresh, retry = head_of(base .. 'fresh:' .. id), head_of(base .. 'retry:' .. id)
  if retry and pace.quota and pace.quota < RETRY_QUOTA_LEAST then retry = math.max(retry, pace.next) end
  return earlier(fresh, retry), first_lease_end(base, id)
end

-- A lane is in `due` if its endpoint is proven, else in `unproven`. Attempts at an unproven endpoint may hang, so its
-- lane waits in `unproven` for a slot, and costs nothing meanwhile. A deleted lane needs no slot, so it is in `due`.
local function due_set_of(lane)
  return (lane.proven or lane.deleted) and 'due' or 'unproven'
end

-- The first time in `unproven` before this script added a lane. nil: it has added none. false: `unproven` was empty.
local first_unproven

local function put_in_due_set(base, due_set, id, due, mode)
  if due_set == 'unproven' and first_unproven == nil then first_unproven = head_of(base .. 'unproven') or false end
  if mode then
    redis.call('ZADD', base .. due_set, mode, text(due), id)
  else
    redis.call('ZADD', base .. due_set, text(due), id)
  end
end

local function leave_due_sets(base, id, lane)
  if not lane or due_set_of(lane) == 'due' then redis.call('ZREM', base .. 'due', id) end
  if not lane or not lane.proven then redis.call('ZREM', base .. 'unproven', id) end
end

-- Stores the result of an attempt: '+' the endpoint is proven, '-' it is not, '' nothing new. The caller must call
-- lane_next afterwards. Returns true if the lane moves to the other due set.
local function note_standing(base, id, lane, standing)
  local proven = standing == '+'
  if standing == '' or lane.deleted or lane.proven == proven then return false end
  lane.proven = proven
  if proven then
    redis.call('HSET', base .. 'lane:' .. id, LANE.proven, '1')
  else
    redis.call('HDEL', base .. 'lane:' .. id, LANE.proven)
  end
  redis.call('ZREM', base .. (proven and 'unproven' or 'due'), id)
  return true
end

-- The due time of a lane, if deliveries may lie on shelves (group-rate.lua).
local function with_shelves(base, id, now, lane, waiting)
  if not waiting then return nil end
  local first, is_shelved = head_of(base .. 'shelved:' .. id), waiting >= SHELVED_FROM
  if is_shelved and not lane.groups then
    lane.groups = NO_GROUPS
    redis.call('HSET', base .. 'lane:' .. id, LANE.groupRates, NO_GROUPS)
  end
  if is_shelved and not first then return now end
  if is_shelved then waiting = nil end
  return first and earlier(waiting, take_time(base, first)) or waiting
end

local function drop_shelves(base, id, lane)
  redis.call('DEL', base .. 'shelves:' .. id, base .. 'shelved:' .. id)
  if lane.groups == NO_GROUPS then redis.call('HDEL', base .. 'lane:' .. id, LANE.groupRates) end
end

-- Writes the time at which the lane is due into its due set, and returns it. A paused, empty or missing lane is removed
-- from it, and nil is returned. A paused lane that is not empty is put into `paused`, for the sweep. A deleted
-- lane is due now while deliveries wait. If the rest is in flight, it is due at the first lease end, and it is removed
-- when empty. A throttled lane is due before its next send time, so that one take finds several send times of a fast
-- lane. `not_before` is for take: a lane that was just served goes behind the others that are due. Without it an
-- overdue lane keeps its place in the set. Times are whole ms, because small sorted sets are slow with fractions (20
-- against 1 µs). Only a lane that take has postponed has a fraction.
local function set_due(base, id, now, lane, waiting, leased, not_before)
  local empty = not waiting and not leased
  if not lane or empty or lane.paused then
    leave_due_sets(base, id, lane)
    if lane and empty and lane.groups then drop_shelves(base, id, lane) end
    if lane and empty and lane.deleted then
      redis.call('DEL', base .. 'lane:' .. id)
      redis.call('ZREM', base .. 'failing', id)
    end
    if lane and lane.paused and not empty then redis.call('SADD', base .. 'paused', id) end
    return nil
  end
  if waiting and lane.deleted then waiting = now end
  if waiting and lane.rate and not lane.deleted then waiting = math.max(waiting, take_time(base, lane.tat)) end
  local probe_at = lane.pace and lane.pace.probe_at
  if waiting and probe_at and not lane.deleted then waiting = math.max(waiting, probe_at) end
  if lane.deleted and not lane.proven then redis.call('ZREM', base .. 'unproven', id) end
  local due = math.max(math.ceil(earlier(waiting, leased)), not_before or now)
  if due > now or not_before then
    put_in_due_set(base, due_set_of(lane), id, due)
  else
    put_in_due_set(base, due_set_of(lane), id, now, 'LT')
  end
  return due
end

local function lane_next(base, id, now, lane, not_before)
  lane = lane or lane_of(base, id, now)
  local waiting, leased
  if lane and lane.pace then
    waiting, leased = paced_heads(base, id, now, lane.pace)
  else
    waiting, leased = heads_of(base, id, now)
  end
  if lane and (lane.groups or waiting and waiting >= SHELVED_FROM) then
    waiting = with_shelves(base, id, now, lane, waiting)
  end
  return set_due(base, id, now, lane, waiting, leased, not_before)
end
