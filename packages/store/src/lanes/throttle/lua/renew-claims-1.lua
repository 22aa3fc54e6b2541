-- Gives unsent claims new send times and, if needed, longer leases. These are claims that a late worker could not send
-- in time, and claims that make another request. In the lane only the theoretical arrival time (tat) moves.
--
-- A late worker names all its claims of the lane, with their send times. If these are the last send times that the lane
-- has given out, all of them and the tat move by the delay. The lane then loses this time, and no claim loses its
-- place.
--
-- Another worker may have claims with later send times, or the rate may have changed. Then the late claims take the
-- next free send times, like claims that make another request. The others keep theirs.
-- @key base: of the shard
-- @arg lease_ms: number, that a lease must last from the send time on
-- @rest values: for each lane: subscription, ms from now before which nothing late is sent, number of claims, and for
--   each of them, in the order of their send times, delivery, lease and send time, '' if it makes another request
-- Returns for each claim its send time and its lease. The send time is '' if the lease has ended, if the lane is paused
--   or deleted, or if too much is ahead of the claim.
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-rate
-- @include lane-lease
run_when_full(base)
local now = now_ms(base)
local at, reply = values_at - 1, {}

local function next_arg()
  at = at + 1
  return ARGV[at]
end

-- Whether the claims have the last send times that the lane has given out.
local function are_last(lane, claims)
  local from = claims[1].send
  return from and math.abs(lane.tat - from - #claims * 1000 / lane.rate) * 2 < 1000 / lane.rate
end

-- The lease from now on, long enough for the send time. The lease of a circuit's probe must end when the circuit does
-- (lane-pace).
local function lasting_lease(id, lane, delivery, lease, send)
  local ends = math.floor(lease / LEASE_UNIT)
  if ends >= send + lease_ms then return lease end
  local longer = new_lease(base, math.ceil(send + lease_ms), is_fifo_lease(lease))
  redis.call('ZADD', base .. 'lease:' .. id, text(longer), delivery)
  if lane.pace and lane.pace.shut == ends then
    redis.call('HSET', base .. 'lane:' .. id, LANE.openUntil, text(math.floor(longer / LEASE_UNIT)))
  end
  return longer
end

-- The next free send time. nil: it would be past RENEWED_AHEAD_MS.
local function next_time(lane, lead)
  if not lane.rate then return now end
  lane.tat = math.max(lane.tat, now + lead)
  if lane.tat > now + NUMBER.RENEWED_AHEAD_MS then return nil end
  lane.moved = true
  return next_send_time(lane)
end

local function renew_lane(id, lead, claims, deliveries)
  if #claims == 0 then return end
  local lane = lane_of(base, id, now)
  local open = lane and not lane.gone and not lane.paused
  local current = redis.call('ZMSCORE', base .. 'lease:' .. id, unpack(deliveries))
  local move = open and lane.rate and are_last(lane, claims)
  if move then lane.tat = claims[1].send end
  for i, claim in ipairs(claims) do
    local lease, send = tonumber(claim.lease), nil
    local keeps = not move and claim.send and claim.send >= now - NUMBER.IN_TIME_MS
    if open and tonumber(current[i] or '') == lease then send = keeps and claim.send or next_time(lane, lead) end
    reply[#reply + 1] = send and text(send) or ''
    reply[#reply + 1] = send and text(lasting_lease(id, lane, claim.delivery, lease, send)) or claim.lease
  end
  if open and lane.moved then redis.call('HSET', base .. 'lane:' .. id, LANE.tat, text(lane.tat)) end
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
