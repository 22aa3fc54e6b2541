-- What a lane's retry mode and circuit breaker let through (policy/src/retries/retry-mode.ts; the model of the adaptive
-- rate: adaptive-rate.fixture.ts). Only lanes that have one of them have lane.pace, and only they pay. The state stands
-- in the lane's hash: LANE.quota what is left of the retry quota, LANE.paceNext when a retry may go though it is
-- empty, LANE.rate the adaptive rate, LANE.openUntil until when the circuit is open, LANE.closedAt when it last closed.
-- @include lane-state
-- @include lane-next
-- @include lane-claim
local RETRY_COST = 5
local TIMEOUT_COST = 10
local EMPTY_QUOTA_GAP_MS = 1000

-- Older releases wrote the whole word.
local function cost_of(state)
  local timed_out = string.find(state, '#t$') or string.find(state, ',timeout$')
  return timed_out and TIMEOUT_COST or RETRY_COST
end

-- The retries, in order, that the quota allows, or one if it is empty and a second has passed. Takes them off the
-- quota; a delivery marked dead is no attempt and costs nothing. Returns how many go.
local function draw_on_quota(take, id, lane, states)
  local pace, left = lane.pace, lane.pace.quota
  local n, drawn = #states, false
  for i, state in ipairs(states) do
    local free = is_dead(state) or not state
    local waited = left < RETRY_COST and not drawn and take.now >= pace.next
    if not free and left < RETRY_COST and not waited then
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

-- One attempt asks whether the endpoint is back; the next goes when that one has failed, or its lease has ended. By its
-- lease's end a settlement knows the probe (lane-settle).
local function begin_probe(take, id, lane)
  lane.pace.shut = lease_end(take, lane)
  redis.call('HSET', take.base .. 'lane:' .. id, LANE.openUntil, text(lane.pace.shut))
end
