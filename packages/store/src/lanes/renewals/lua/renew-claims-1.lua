-- Gives unsent claims new send times and, if needed, longer leases. These are claims that a late worker could not send
-- in time, and claims that make another request. In the lane only the theoretical arrival time (tat) moves.
--
-- A late worker names all its claims of the lane, with their send times. If these are the last send times that the lane
-- has given out, all of them and the tat move by the delay. The lane then loses this time, and no claim loses its
-- place.
--
-- Another worker may have claims with later send times, or the rate may have changed. Then the late claims take the
-- next free send times, like claims that make another request. The others keep theirs.
--
-- The same holds for the claims of each throttled group. If they have the last send times of the group, the tat of the
-- group moves with them.
-- @key base: of the shard
-- @arg lease_ms: number, that a lease must last from the send time on
-- @rest values: for each lane: subscription, ms from now before which nothing late is sent, number of claims, and for
--   each of them, in the order of their send times, delivery, lease and send time, '' if it makes another request
-- Returns for each claim its send time and its lease. The send time is '' if the lease has ended, if the lane is paused
--   or deleted, or if too much is ahead of the claim.
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-throttle
-- @include group-rate
-- @include lane-lease
run_when_full(base)
local now = now_ms(base)
local at, reply = values_at - 1, {}

local function next_arg()
  at = at + 1
  return ARGV[at]
end

-- Whether the claims have the last send times that a lane or group has given out.
local function are_last(tat, gap, claims)
  local from = claims[1].send
  return from and math.abs(tat - from - #claims * gap) * 2 < gap
end

-- The claims of each throttled group. Claims that have the last send times of their group move, and so does its tat. In
-- a lane with a throttle of its own they move only with all claims of the lane.
local function move_groups(id, lane, claims, lane_moves)
  local claims_of = {}
  for _, claim in ipairs(claims) do
    claim.group = by_group.find(base, id, lane, claim.delivery, now, 0)
    if claim.group then
      claims_of[claim.group] = claims_of[claim.group] or {}
      table.insert(claims_of[claim.group], claim)
    end
  end
  for group, own in pairs(claims_of) do
    group.moves = lane_moves
    if not lane.rate then group.moves = are_last(group.tat, group.gap, own) end
    if group.moves and own[1].send then group.tat = own[1].send end
  end
end

-- The lease from now on, long enough for the send time. The lease of a circuit's probe must end when the circuit does
-- (lane-pace).
local function lasting_lease(id, lane, delivery, lease, send)
  local ends = math.floor(lease / LEASE_UNIT)
  if ends >= send + lease_ms then return lease end
  local longer = new_lease(base, math.ceil(send + lease_ms), is_fifo_lease(lease))
  redis.call('ZADD', base .. 'lease:' .. id, text(longer), delivery)
  if lane.pace and lane.pace.probe_at == ends then
    redis.call('HSET', base .. 'lane:' .. id, LANE.openUntil, text(math.floor(longer / LEASE_UNIT)))
  end
  return longer
end

-- The next free send time. nil: it would be past RENEWED_AHEAD_MS.
local function next_time(lane, group, lead)
  if not lane.rate and not group then return now end
  if lane.rate then lane.tat = math.max(lane.tat, now + lead) end
  if group then group.tat = math.max(group.tat, now + lead) end
  if math.max(lane.rate and lane.tat or 0, group and group.tat or 0) > now + NUMBER.RENEWED_AHEAD_MS then return nil end
  lane.moved = lane.rate
  return next_send_time(lane, group)
end

local function renew_lane(id, lead, claims, deliveries)
  if #claims == 0 then return end
  local lane = lane_of(base, id, now)
  local open = lane and not lane.deleted and not lane.paused
  local current = redis.call('ZMSCORE', base .. 'lease:' .. id, unpack(deliveries))
  local move = open and lane.rate and are_last(lane.tat, 1000 / lane.rate, claims)
  if open and lane.groups then move_groups(id, lane, claims, move) end
  if move then lane.tat = claims[1].send end
  for i, claim in ipairs(claims) do
    local lease, group, send = tonumber(claim.lease), claim.group, nil
    local moves = move or not (lane and lane.rate) and group and group.moves
    local keeps = not moves and claim.send and claim.send >= now - NUMBER.IN_TIME_MS
    if open and tonumber(current[i] or '') == lease then send = keeps and claim.send or next_time(lane, group, lead) end
    reply[#reply + 1] = send and text(send) or ''
    reply[#reply + 1] = send and text(lasting_lease(id, lane, claim.delivery, lease, send)) or claim.lease
  end
  if open and lane.moved then redis.call('HSET', base .. 'lane:' .. id, LANE.tat, text(lane.tat)) end
  if open and lane.groups then by_group.keep_tats(base, id, lane, now) end
end

while at < #ARGV do
  local id, lead, count = next_arg(), tonumber(next_arg()), tonumber(next_arg())
  local claims, deliveries = {}, {}
  for i = 1, count do
    deliveries[i] = next_arg()
    claims[i] = { delivery = deliveries[i], lease = next_arg(), send = tonumber(next_arg()) }
  end
  renew_lane(id, lead, claims, deliveries)
end
save_leases(base)
return reply
