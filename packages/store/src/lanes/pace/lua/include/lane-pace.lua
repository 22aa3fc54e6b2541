-- Decides how many deliveries of a lane the retry mode and the circuit breaker allow now
-- (policy/src/retries/retry-mode.ts). adaptive-rate.fixture.ts is a model of the adaptive rate. lane.pace has the state
-- of both. A lane that uses neither has no lane.pace, and no cost. The hash of the lane stores the state:
-- - LANE.quota: the tokens that are left for retries
-- - LANE.paceNext: when the next retry may be sent although the quota is empty
-- - LANE.adaptiveRate: the adaptive rate
-- - LANE.openUntil: until when the circuit is open
-- - LANE.closedAt: when the circuit was last closed
-- @include lane-state
-- @include lane-next
-- @include lane-claim
local TIMEOUT_COST = 10
local EMPTY_QUOTA_GAP_MS = 1000

local function cost_of(state)
  return string.find(state, '#t$') and TIMEOUT_COST or NUMBER.RETRY_COST
end

-- Takes tokens for the given deliveries, in order, and returns for how many the quota is enough. If it is empty, one
-- retry may go each second. A delivery without an attempt, or one declared dead, costs nothing.
local function draw_on_quota(take, id, lane, states)
  local pace, left = lane.pace, lane.pace.quota
  local n, drawn = #states, false
  for i, state in ipairs(states) do
    local free = is_dead(state) or not state
    local waited = left < NUMBER.RETRY_COST and not drawn and take.now >= pace.next
    if not free and left < NUMBER.RETRY_COST and not waited then
      n = i - 1
      break
    end
    if waited then pace.next = take.now + EMPTY_QUOTA_GAP_MS end
    if not free then
      left, drawn = math.max(0, left - cost_of(state)), true
    end
  end
  if drawn then
    pace.quota = left
    redis.call('HSET', take.base .. 'lane:' .. id, LANE.quota, text(left), LANE.paceNext, text(pace.next))
  end
  return n
end

local function first_of(list, n)
  return #list == n and list or { unpack(list, 1, n) }
end

-- Begins a probe: one attempt that finds out whether the endpoint works again. The next probe may go when this one has
-- failed, or when its lease has ended. A settlement recognises the probe by the end of its lease (lane-settle).
local function begin_probe(take, id, lane)
  lane.pace.probe_at = lease_end(take, lane)
  redis.call('HSET', take.base .. 'lane:' .. id, LANE.openUntil, text(lane.pace.probe_at))
end
