-- What of a lane is claimed next: fresh deliveries first, but of five claims at least one from the retries.
local RETRY_TURN = 5

local function due_of(key, now, skip, n)
  if n <= 0 then return {} end
  return redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', skip, n)
end

local function pick(take, id, lane, n)
  local fresh_key, retry_key = take.base .. 'fresh:' .. id, take.base .. 'retry:' .. id
  local turns = math.floor((lane.turn + n) / RETRY_TURN)
  local retries = due_of(retry_key, take.now, 0, math.min(turns, n))
  local fresh = due_of(fresh_key, take.now, 0, n - #retries)
  for _, delivery in ipairs(due_of(retry_key, take.now, #retries, n - #retries - #fresh)) do
    retries[#retries + 1] = delivery
  end
  return fresh, retries
end

-- Without those that are too old; they stay for the lane's next turn.
local function young(take, lane, ids)
  local kept = {}
  for _, delivery in ipairs(ids) do
    if not is_old(take, lane, delivery) then kept[#kept + 1] = delivery end
  end
  return kept
end

-- How many sends of a throttled lane have their time within SEND_AHEAD_MS.
local function slots_of(take, lane)
  if not lane.gap then return math.huge end
  return math.max(0, math.floor((take.now + SEND_AHEAD_MS - lane.tat) / lane.gap) + 1)
end

-- Claims up to max; returns how many, and how many deliveries were looked at.
local function claim_due(take, id, lane, max, claims)
  local slots = slots_of(take, lane)
  local fresh, retries = pick(take, id, lane, math.min(max, slots))
  local young_fresh, young_retries = young(take, lane, fresh), young(take, lane, retries)
  local dead, looked = 0, #fresh + #retries
  if #young_fresh + #young_retries < looked then
    dead = expire_lane(take, id, lane, claims, max)
    fresh, retries = pick(take, id, lane, math.min(max - dead, slots))
    young_fresh, young_retries = young(take, lane, fresh), young(take, lane, retries)
    looked = looked + 2 * EXPIRE_MAX
  end
  claim(take, id, lane, 'fresh', young_fresh, nil, claims)
  claim(take, id, lane, 'retry', young_retries, states_of(take.base, id, young_retries), claims)
  local got = #young_fresh + #young_retries
  if got > 0 then
    local turn = (lane.turn + got) % RETRY_TURN
    redis.call('HSET', take.base .. 'lane:' .. id, 'k', turn, unpack(lane.gap and { 'x', exact(lane.tat) } or {}))
  end
  return got + dead, looked
end
