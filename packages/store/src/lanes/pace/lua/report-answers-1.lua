-- Records endpoints' answers, for lanes with a retry mode or a circuit breaker. It refills the retry quota, lowers and
-- raises the adaptive rate, and opens and closes circuits (policy/src/retries/retry-mode.ts; adaptive-rate.fixture.ts
-- is a model of the adaptive rate). If the call is lost or repeated, only an estimate is wrong.
-- @key base: of the shard
-- @arg shard: digits
-- @list results
-- @item id: text, of the subscription
-- @item what: text, the answer: ok, refused, limited, unavailable, timeout, failed; unsent: the claim returned to its
-- lane
-- @item cost: number, tokens that the attempt took from the quota: 0 for a first attempt
-- Returns earliest due time or '', wakes published (lane-wake), then for each result 1 if the circuit was open
--         before it, else when it last closed, or 0
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- Requests per second below which an adaptive rate does not fall.
local RATE_PER_SECOND_MIN = 0.5
local BETA, SCALE, SMOOTHING, BUCKET_MS, MEASURED_TIMES = 0.7, 0.4, 0.8, 500, 2
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local SLOWER = { limited = true, unavailable = true, timeout = true }
local ALIVE = { ok = true, refused = true, limited = true }
local paces, reply = {}, { '', 0 }

local function pace_of(id)
  if paces[id] then return paces[id] end
  local h = redis.call('HMGET', base .. 'lane:' .. id, PACE_READ.all)
  local mode, failures, probe = string.match(h[PACE_READ.mode] or '-', '^(.) ?(%d*) ?(%d*)$')
  local pace = {
    mode = mode, failures_max = tonumber(failures), probe_ms = tonumber(probe),
    quota = tonumber(h[PACE_READ.quota]) or RETRY_QUOTA_MAX, rate = tonumber(h[PACE_READ.adaptiveRate]),
    probe_at = tonumber(h[PACE_READ.openUntil]), failures = tonumber(h[PACE_READ.failures]) or 0,
    last_max = tonumber(h[PACE_READ.lastMax]) or 0, slowed = tonumber(h[PACE_READ.slowedAt]) or 0,
    measured = tonumber(h[PACE_READ.measured]) or 0, bucket = tonumber(h[PACE_READ.bucket]),
    requests = tonumber(h[PACE_READ.requests]) or 0, closed = tonumber(h[PACE_READ.closedAt]),
  }
  paces[id] = pace
  return pace
end

local function note_quota(pace, what, cost)
  if what == 'unsent' then
    pace.quota = math.min(RETRY_QUOTA_MAX, pace.quota + cost)
  elseif what == 'ok' then
    pace.quota = math.min(RETRY_QUOTA_MAX, pace.quota + (cost > 0 and cost or 1))
  end
end

local function measure(pace)
  local bucket = math.floor(now / BUCKET_MS) * BUCKET_MS
  pace.bucket, pace.requests = pace.bucket or bucket, pace.requests + 1
  if bucket <= pace.bucket then return end
  local per_second = pace.requests * 1000 / (bucket - pace.bucket)
  pace.measured = SMOOTHING * per_second + (1 - SMOOTHING) * pace.measured
  pace.bucket, pace.requests = bucket, 0
end

local function note_rate(pace, what)
  measure(pace)
  local wanted
  if SLOWER[what] then
    pace.last_max = pace.rate and math.min(pace.measured, pace.rate) or pace.measured
    pace.slowed = now
    wanted = pace.last_max * BETA
  elseif pace.rate then
    local back = (pace.last_max * (1 - BETA) / SCALE) ^ (1 / 3)
    wanted = SCALE * ((now - pace.slowed) / 1000 - back) ^ 3 + pace.last_max
  end
  if wanted then pace.rate = math.max(RATE_PER_SECOND_MIN, math.min(wanted, MEASURED_TIMES * pace.measured)) end
end

local function note_circuit(pace, what)
  if ALIVE[what] then
    pace.closed = pace.probe_at and now or pace.closed
    pace.failures, pace.probe_at = 0, nil
    return
  end
  pace.failures = pace.failures + 1
  if pace.probe_at or pace.failures >= pace.failures_max then pace.probe_at = now + pace.probe_ms end
end

-- Notes that the attempt reached its endpoint, so the lane is no longer blocked (lane-blocked). Only an open circuit
-- may still stop it.
local function note_reached(pace)
  pace.reached = true
  if not pace.failures_max then pace.probe_at = nil end
end

local function circuit_of(pace)
  if not pace.failures_max then return 0 end
  return pace.probe_at and 1 or pace.closed and text(pace.closed) or 0
end

for id, what, cost in results() do
  local pace = pace_of(id)
  reply[#reply + 1] = circuit_of(pace)
  if pace.mode ~= '-' then note_quota(pace, what, cost) end
  if pace.mode == 'a' and what ~= 'unsent' then note_rate(pace, what) end
  if what ~= 'unsent' then note_reached(pace) end
  if pace.failures_max and what ~= 'unsent' then note_circuit(pace, what) end
end
for id, pace in pairs(paces) do
  local lane = base .. 'lane:' .. id
  if redis.call('EXISTS', lane) == 1 then
    redis.call('HSET', lane, LANE.quota, text(pace.quota), LANE.failures, pace.failures)
    if pace.probe_at then
      redis.call('HSET', lane, LANE.openUntil, text(pace.probe_at))
    else
      redis.call('HDEL', lane, LANE.openUntil)
    end
    if pace.reached then redis.call('HDEL', lane, LANE.blockedBy) end
    if pace.closed then redis.call('HSET', lane, LANE.closedAt, text(pace.closed)) end
    if pace.mode == 'a' then
      redis.call('HSET', lane, LANE.lastMax, text(pace.last_max), LANE.slowedAt, text(pace.slowed),
        LANE.measured, text(pace.measured), LANE.bucket, text(pace.bucket or 0), LANE.requests, pace.requests)
      if pace.rate then redis.call('HSET', lane, LANE.adaptiveRate, text(pace.rate)) end
    end
    lane_next(base, id, now)
  end
end
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
reply[1], reply[2] = due and text(due) or '', woke
return reply
