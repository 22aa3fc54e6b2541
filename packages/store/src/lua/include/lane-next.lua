-- A lane's settings and the time at which it next needs a take. Every script that changes a lane ends with lane_next.
-- Slices are remembered for the length of a script: change a slice before, not after, the first lane_next.
local SEND_AHEAD_MS = 250
local STORED_AHEAD_MAX_MS = 1000
local slices = {}

local function slice_of(base, sid)
  local slice = slices[sid]
  if not slice then
    local h = redis.call('HMGET', base .. 'slice:' .. sid, 'rate', 'ovr', 'ret', 'rev')
    slice = { rate = tonumber(h[1]), fixed = h[2] == '1', ret = tonumber(h[3]), rev = h[4] or '' }
    slices[sid] = slice
  end
  return slice
end

-- nil where there is no such lane. gap: ms between sends where throttled; tat: theoretical arrival time of the next.
local function lane_of(base, id, now)
  local h = redis.call('HMGET', base .. 'lane:' .. id, 's', 'r', 'p', 'g', 'x', 'k', 'c', 'q')
  if not h[1] then return nil end
  local slice = slice_of(base, h[1])
  local rate = (not slice.fixed and tonumber(h[2])) or slice.rate
  local lane = { slice = slice, sid = h[1], gone = h[4] == '1', dlq = h[8] == '1' }
  lane.paused = h[3] == '1' and not lane.gone
  lane.turn = tonumber(h[6]) or 0
  lane.cap = tonumber(h[7]) or 32
  if rate and rate > 0 then
    lane.rate, lane.gap = rate, 1000 / rate
    lane.tat = math.max(tonumber(h[5]) or 0, now)
    -- The clock was set back: no claim lies further ahead than this, so the throttle holds and the lane goes on.
    if lane.tat > now + STORED_AHEAD_MAX_MS + lane.gap then lane.tat = now + SEND_AHEAD_MS + lane.gap end
  end
  return lane
end

local function head_of(key)
  return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end

local function earlier(a, b)
  if not a then return b end
  return b and math.min(a, b) or a
end

-- Writes the lane's next due time into `due` (or removes it there) and returns it, nil where there is none: paused,
-- empty or missing. A paused lane with anything in it is noted in `held`, for the sweep. A deleted lane is due now
-- while anything waits, at its first lease end while the rest is in flight, and removed when empty. A throttled lane
-- is due half of SEND_AHEAD_MS before its next send time: a take then finds several slots of a fast lane at once.
-- Overdue lanes keep their place in the line, unless `served`: then they go behind the others that are due now.
local function lane_next(base, id, now, lane, served)
  lane = lane or lane_of(base, id, now)
  local waiting = earlier(head_of(base .. 'fresh:' .. id), head_of(base .. 'retry:' .. id))
  local leased = head_of(base .. 'lease:' .. id)
  local empty = not waiting and not leased
  if not lane or empty or lane.paused then
    redis.call('ZREM', base .. 'due', id)
    if lane and empty and lane.gone then redis.call('DEL', base .. 'lane:' .. id) end
    if lane and lane.paused and not empty then redis.call('SADD', base .. 'held', id) end
    return nil
  end
  if waiting and lane.gone then waiting = now end
  if waiting and lane.gap and not lane.gone then waiting = math.max(waiting, lane.tat - SEND_AHEAD_MS / 2) end
  local due = earlier(waiting, leased)
  if due > now then
    redis.call('ZADD', base .. 'due', due, id)
  elseif served then
    redis.call('ZADD', base .. 'due', now, id)
  else
    redis.call('ZADD', base .. 'due', 'LT', now, id)
  end
  return math.max(due, now)
end
