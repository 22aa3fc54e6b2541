-- Picks the next claims of a lane: fresh deliveries first, but at least one of five from the retries.
-- @include lane-next
-- @include lane-rate
-- @include group-rate
-- @include lane-claim
-- @include lane-pace
local RETRY_EVERY = 5
-- Due deliveries of throttled groups that one take puts aside to find others, about. Past it: the next take continues.
local GROUPS_PASSED_OVER_MAX = 200
-- Due deliveries beyond the wanted ones among which a take chooses, if the lane and its groups have throttles.
local CHOICE = 32

-- Up to n due deliveries, and whether there are more.
local function due_of(key, now, skip, n)
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', text(now), 'LIMIT', text(skip), text(n + 1))
  if #ids <= n then return ids, false end
  ids[n + 1] = nil
  return ids, true
end

-- Fresh deliveries, retries, and whether more deliveries are due.
local function pick(take, id, lane, n)
  local retry_key = take.base .. 'retry:' .. id
  local share = math.min(math.floor((lane.claimed + n) / RETRY_EVERY), n)
  local retries = share > 0 and due_of(retry_key, take.now, 0, share) or {}
  local room = n - #retries
  local fresh, more = due_of(take.base .. 'fresh:' .. id, take.now, 0, room)
  if not more then
    local others
    others, more = due_of(retry_key, take.now, #retries, room - #fresh)
    for _, delivery in ipairs(others) do
      retries[#retries + 1] = delivery
    end
  end
  return fresh, retries, more
end

-- The list without deliveries that are too old. Those stay in the lane until its next take.
local function young(take, id, lane, ids)
  local young_ids = ids
  for i, delivery in ipairs(ids) do
    if is_old(take, id, lane, delivery) then
      if young_ids == ids then young_ids = { unpack(ids, 1, i - 1) } end
    elseif young_ids ~= ids then
      young_ids[#young_ids + 1] = delivery
    end
  end
  return young_ids
end

-- Claims up to max deliveries. Returns how many were claimed, how many were checked, whether more are due (nil:
-- unknown), and how many were put aside for their groups' throttle.
local function claim_round(take, id, lane, max, claims)
  local send_times = send_times_left(take.base, lane, take.now, take.lead_ms)
  local n = math.min(max, send_times)
  -- If groups have send times too, further deliveries may be first to send.
  local asked = n > 0 and lane.groups and lane.rate and n + CHOICE or n
  local fresh, retries, more = pick(take, id, lane, asked)
  local young_fresh, young_retries = young(take, id, lane, fresh), young(take, id, lane, retries)
  local dead, looked = 0, #fresh + #retries
  if #young_fresh + #young_retries < looked then
    more = nil
    dead = expire_lane(take, id, lane, claims, max)
    n = math.min(max - dead, send_times)
    fresh, retries = pick(take, id, lane, lane.groups and asked or n)
    young_fresh, young_retries = young(take, id, lane, fresh), young(take, id, lane, retries)
    looked = looked + 2 * EXPIRE_MAX
  end
  local states, aside = states_of(take.base, id, young_retries), 0
  if lane.groups then
    local share = math.min(math.floor((lane.claimed + n) / RETRY_EVERY), #young_retries)
    local due = { fresh = young_fresh, retries = young_retries, states = states, share = share }
    young_fresh, young_retries, states, aside = by_group.pass(take, id, lane, due, n)
    more = nil
  end
  if lane.pace and lane.pace.quota and #states > 0 then
    local going = draw_on_quota(take, id, lane, states)
    if going < #states then
      more, young_retries, states = nil, first_of(young_retries, going), first_of(states, going)
    end
  end
  claim(take, id, lane, 'fresh', young_fresh, nil, claims)
  claim(take, id, lane, 'retry', young_retries, states, claims)
  local got = #young_fresh + #young_retries
  if got > 0 then
    local claimed = (lane.claimed + got) % RETRY_EVERY
    if lane.rate then
      redis.call('HSET', take.base .. 'lane:' .. id, LANE.claimed, text(claimed), LANE.tat, text(lane.tat))
    else
      redis.call('HSET', take.base .. 'lane:' .. id, LANE.claimed, text(claimed))
    end
  elseif lane.is_renewed then
    -- Else the next take would renew it again, and nothing would be sent until the old time has come.
    redis.call('HSET', take.base .. 'lane:' .. id, LANE.tat, text(lane.tat))
  end
  return got + dead, looked, more, aside
end

-- The same in as many rounds as are needed, because deliveries whose groups are throttled must not be in the way of
-- others.
local function claim_due(take, id, lane, max, claims)
  if lane.groups then by_group.clear_shelves(take, id, lane) end
  local claimed, looked, more, aside = claim_round(take, id, lane, max, claims)
  while aside > 0 and claimed < max and looked < GROUPS_PASSED_OVER_MAX do
    local n, seen
    looked = looked + by_group.pass_over(take, id, lane, GROUPS_PASSED_OVER_MAX)
    n, seen, more, aside = claim_round(take, id, lane, max - claimed, claims)
    claimed, looked = claimed + n, looked + seen
  end
  if lane.groups then by_group.keep_tats(take.base, id, lane, take.now) end
  return claimed, looked, more
end
