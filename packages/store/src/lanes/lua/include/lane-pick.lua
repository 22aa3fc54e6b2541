-- Picks the next claims of a lane: fresh deliveries first, but at least one of five from the retries.
-- @include lane-next
-- @include lane-throttle
-- @include group-rate
-- @include lane-claim
-- @include lane-pace
local RETRY_EVERY = 5
-- Due deliveries of throttled groups that one take puts aside to find others, about. Past it: the next take continues.
local GROUPS_PASSED_OVER_MAX = 200
-- Due deliveries beyond the wanted ones among which a take chooses, if the lane and its groups have throttles.
local EXTRA_CANDIDATES = 32

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
  local share = math.min(math.floor((lane.claims_modulo + n) / RETRY_EVERY), n)
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
local function not_expired(take, id, lane, ids)
  local valid_ids = ids
  for i, delivery in ipairs(ids) do
    if is_old(take, id, lane, delivery) then
      if valid_ids == ids then valid_ids = { unpack(ids, 1, i - 1) } end
    elseif valid_ids ~= ids then
      valid_ids[#valid_ids + 1] = delivery
    end
  end
  return valid_ids
end

-- Claims up to max deliveries. Returns how many were claimed, how many were read, whether more are due (nil:
-- unknown), and how many were put aside for their groups' throttle.
local function claim_round(take, id, lane, max, claims)
  local send_times = send_times_left(take.base, lane, take.now, take.lead_ms)
  local n = math.min(max, send_times)
  -- If groups have send times too, further deliveries may be first to send.
  local asked = n > 0 and lane.groups and lane.rate and n + EXTRA_CANDIDATES or n
  local fresh, retries, more = pick(take, id, lane, asked)
  local valid_fresh, valid_retries = not_expired(take, id, lane, fresh), not_expired(take, id, lane, retries)
  local dead, read_count = 0, #fresh + #retries
  if #valid_fresh + #valid_retries < read_count then
    more = nil
    dead = expire_lane(take, id, lane, claims, max)
    n = math.min(max - dead, send_times)
    fresh, retries = pick(take, id, lane, lane.groups and asked or n)
    valid_fresh, valid_retries = not_expired(take, id, lane, fresh), not_expired(take, id, lane, retries)
    read_count = read_count + 2 * EXPIRE_MAX
  end
  local states, aside = states_of(take.base, id, valid_retries), 0
  if lane.groups then
    local share = math.min(math.floor((lane.claims_modulo + n) / RETRY_EVERY), #valid_retries)
    local due = { fresh = valid_fresh, retries = valid_retries, states = states, share = share }
    valid_fresh, valid_retries, states, aside = by_group.pass(take, id, lane, due, n)
    more = nil
  end
  if lane.pace and lane.pace.quota and #states > 0 then
    local going = draw_on_quota(take, id, lane, states)
    if going < #states then
      more, valid_retries, states = nil, first_of(valid_retries, going), first_of(states, going)
    end
  end
  claim(take, id, lane, 'fresh', valid_fresh, nil, claims)
  claim(take, id, lane, 'retry', valid_retries, states, claims)
  local got = #valid_fresh + #valid_retries
  if got > 0 then
    local claims_modulo = (lane.claims_modulo + got) % RETRY_EVERY
    if lane.rate then
      redis.call('HSET', take.base .. 'lane:' .. id, LANE.claimsModulo, text(claims_modulo), LANE.tat, text(lane.tat))
    else
      redis.call('HSET', take.base .. 'lane:' .. id, LANE.claimsModulo, text(claims_modulo))
    end
  elseif lane.tat_was_reset then
    -- Else the next take would reset it again, and nothing would be sent until the old time has come.
    redis.call('HSET', take.base .. 'lane:' .. id, LANE.tat, text(lane.tat))
  end
  return got + dead, read_count, more, aside
end

-- The same in as many rounds as are needed, because deliveries whose groups are throttled must not be in the way of
-- others.
local function claim_due(take, id, lane, max, claims)
  if lane.groups then by_group.clear_shelves(take, id, lane) end
  local claimed, read_count, more, aside = claim_round(take, id, lane, max, claims)
  while aside > 0 and claimed < max and read_count < GROUPS_PASSED_OVER_MAX do
    local n, seen
    read_count = read_count + by_group.pass_over(take, id, lane, GROUPS_PASSED_OVER_MAX)
    n, seen, more, aside = claim_round(take, id, lane, max - claimed, claims)
    claimed, read_count = claimed + n, read_count + seen
  end
  if lane.groups then by_group.keep_tats(take.base, id, lane, take.now) end
  return claimed, read_count, more
end
