-- Claims due deliveries, lane by lane; the lane that has waited longest comes first. It also makes deliveries with
-- ended leases wait again, expires old deliveries, and discards the lanes of deleted subscriptions.
--
-- Lanes of unproven endpoints are in a separate line. Each gets one claim when it is first, and goes to the end of the
-- line. A lane that is sent in batches gets the claims of one request. The line is only read if the worker has a slot
-- for it.
--
-- If data of a lane or log is unreadable, the others are taken nevertheless.
--
-- The script also claims FIFO logs, which are due like lanes, and discards logs of deleted topics. A call does a
-- limited amount of work. The rest stays due.
-- @key base: of the shard
-- @arg lanes_max: number
-- @arg deliveries_max: number
-- @arg lease_ms: number
-- @arg others_max: number, claims of a lane that is not named
-- @arg logs_max: number
-- @arg unproven_max: number
-- @arg unproven_till: number?, lanes that have waited since then or longer are served; nil: all
-- @arg unproven_claims: text, lanes that get several claims at a time: subscription=claims, joined by spaces
-- @arg trip_ms: number, the worker's round trip if it is long, else 0
-- @arg lead_ms: number, how long a reply probably takes: no send time is earlier than this from now
-- @arg body_bytes_max: number, of the bodies that the reply may have
-- @list lane_limits
-- @item id: text, of the subscription
-- @item claims_max: number, that its lane may get now
-- Returns a list:
--   - now
--   - earliest due time or ''
--   - discarded deliveries
--   - lanes, each: subscription, slice, slice's revision, '1' if its endpoint is proven or '', with a colon and the
--     credential that blocks it; then for each claim: delivery, lease, send time or '', state or ''
--   - expired deliveries, each: subscription, delivery
--   - heads with followers, each: subscription, head, followers
--   - logs, each: topic's uid, ARN, fence, isolated group or ''
--   - when to look at `unproven` again, or ''
--   - lanes or logs with unreadable data, each: name, error
--   - bodies of claims and followers, alternating: message, body; those that it lacks must be read
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-throttle
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-return
-- @include lane-discard
-- @include lane-claim
-- @include lane-group
-- @include lane-pace
-- @include lane-pick
-- @include lane-whole
-- @include fifo-log
-- After this time without takes of distant workers, send times are given out later again.
local DISTANT_KEPT_MS = 10000
-- Claims of one take, whatever the worker asks for. Past it: the others stay due.
local TAKEN_DELIVERIES_MAX = 1000
-- Deliveries of deleted subscriptions and topics that one take removes. Past it: the next take continues.
local DISCARD_MAX = 1000
-- Deliveries behind heads that one take returns. Past it: they wait.
local BEHIND_MAX = 1000
-- Deliveries that one take reads, about. Past it: further lanes stay due.
local TAKE_STEPS_MAX = 2000
-- A distant worker asks again before its claims have come, so its full lanes wait less.
local POSTPONE_MS = (trip_ms > 0 and math.min(250, math.floor(trip_ms / NUMBER.DISTANT_TAKES)) or 250) + 0.5
-- How often a worker checks whether lanes that are full for it still are.
local FULL_LOOK_MS = 1000
-- A lane or log whose data is unreadable is due again after this time, or once something is parked in it.
local UNREADABLE_MS = 60000
run_when_full(base)
local now = now_ms(base)
local take = { base = base, now = now, lease_ms = lease_ms, lanes = {}, expired = {}, followed = {}, logs = {} }
take.behind_left, take.lead_ms = BEHIND_MAX, lead_ms
if trip_ms > 0 and trip_ms >= trip_ahead_ms(base) then
  trip_ahead = math.min(trip_ms, DISTANT_MS_MAX)
  redis.call('SET', base .. 'roundtrip', text(trip_ahead), 'PX', text(DISTANT_KEPT_MS))
end
take.left = math.min(deliveries_max, TAKEN_DELIVERIES_MAX)
local discarded, steps, limits = 0, 0, {}
local passed_over = 0
local claims_of_unproven = {}
for id, claims in string.gmatch(unproven_claims, '(%S+)=(%d+)') do
  claims_of_unproven[id] = tonumber(claims)
end
for id, claims_max in lane_limits() do
  limits[id] = claims_max
  if claims_max == 0 then passed_over = passed_over + 1 end
end

local function discard_lane(id, lane)
  local n = discard_waiting(base, id, DISCARD_MAX - discarded, 'discarded:unsubscribed', lane.fifo, now)
  discarded = discarded + n
end

-- If this worker has enough readers, the log is postponed, for other workers too.
local function take_log(log)
  local arn = arn_of_log(base, log)
  if not is_log_open(base, log.uid, arn) then
    discarded = discarded + drop_log(base, log, DISCARD_MAX - discarded, now)
  elseif #take.logs < logs_max then
    take.logs[#take.logs + 1] = { log.uid, arn, claim_log(base, log, now), log.group or '' }
  else
    set_log_due(base, log, now + POSTPONE_MS)
  end
end

local function claims_of(id, lane)
  return { id, lane.sid, lane.slice.rev, lane.proven and '1' or '' }
end

local function hand_out(claims)
  if claims[5] then take.lanes[#take.lanes + 1] = claims end
end

-- A lane with an open circuit gets one attempt when the probe is due. Expired or dead deliveries leave as usual.
local function probe_lane(id, lane, max, claims)
  if now >= lane.pace.probe_at and take.left > 0 and max > 0 then
    local credential = redis.call('HGET', base .. 'lane:' .. id, LANE.blockedBy)
    if credential and credential ~= GONE then claims[4] = claims[4] .. ':' .. credential end
    local dead = expire_lane(take, id, lane, claims, math.min(max, take.left))
    if dead == 0 and claim_due(take, id, lane, 1, claims) > 0 then begin_probe(take, id, lane) end
    steps = steps + 2 * EXPIRE_MAX
    hand_out(claims)
  end
  lane_next(base, id, now, lane, now + (max > 0 and 0 or POSTPONE_MS))
end

-- If a lane has reached its limit, it is read again after POSTPONE_MS, or once one of its claims is settled. A
-- settlement recognises such a lane by the half ms. Lanes full of hanging attempts therefore cannot block the head of
-- the line.
local function take_lane(id, lane)
  local max = limits[id] or (lane.rate and lane.max_in_flight) or math.min(lane.max_in_flight, others_max)
  local claims = claims_of(id, lane)
  if lane.pace and lane.pace.probe_at then return probe_lane(id, lane, max, claims) end
  local claimed, read_count, more = claim_due(take, id, lane, math.min(max, take.left), claims)
  steps = steps + read_count
  hand_out(claims)
  local not_before = claimed >= max and now + POSTPONE_MS or now
  if more then
    set_due(base, id, now, lane, now, lane.leased, not_before)
  else
    lane_next_mending(base, id, now, lane, not_before)
  end
end

local function return_ended(id, lane)
  lane.leased = first_lease_end(base, id)
  if not lane.leased or lane.leased > now then return end
  steps = steps + return_leases(base, id, 0, now, now)
  lane.leased, lane.returned = first_lease_end(base, id), true
end

-- Lanes for which this worker already makes as many attempts as it may: they are full.
local full = {}

-- Claims that lanes in `unproven` may still get. They are counted apart from the slots in take.left, because the claims
-- of a batch share one.
local unproven_left = TAKEN_DELIVERIES_MAX

-- Claims for a lane in `unproven`, and takes one slot for it. If the lane then has as many attempts as this worker may
-- make, it is full. This worker skips a full lane for FULL_MS, or until a claim of the lane is settled. Other workers
-- may take it meanwhile.
local function claim_unproven(id, lane)
  local max, claims = limits[id] or math.min(lane.max_in_flight, others_max), claims_of(id, lane)
  if max > 0 and lane.pace and lane.pace.probe_at then return probe_lane(id, lane, 1, claims) end
  local claimed, read_count = 0, 0
  local before = take.left
  if max > 0 then
    claimed, read_count = claim_due(take, id, lane, math.min(claims_of_unproven[id] or 1, max, unproven_left), claims)
  end
  unproven_left = unproven_left - claimed
  take.left = before - math.min(claimed, 1)
  steps = steps + read_count
  hand_out(claims)
  local not_before = now
  if claimed >= max then
    full[id] = true
    not_before = now + NUMBER.FULL_MS
  end
  lane_next_mending(base, id, now, lane, not_before)
end

-- Returns deliveries whose leases ended, and handles lanes that need no attempt: deleted ones, paused ones, and those
-- that damage put into the wrong due set. Returns true for all other lanes.
local function prepare_lane(due_set, id, lane)
  if lane and not lane.paused then return_ended(id, lane) end
  if lane and lane.deleted then discard_lane(id, lane) end
  if lane and not lane.deleted and not lane.paused and due_set == due_set_of(lane) then return true end
  if lane and due_set ~= due_set_of(lane) then redis.call('ZREM', base .. due_set, id) end
  lane_next(base, id, now, lane, now)
  return false
end

local unreadable = {}

local function take_from(due_set, id, handle)
  local works, message = try_whole(handle, id)
  if works then return end
  unreadable[#unreadable + 1] = { id, message }
  redis.call('ZADD', base .. due_set, text(now + UNREADABLE_MS), id)
end

local function take_due(id)
  local log = log_in_due(base, id)
  local lane = not log and lane_of(base, id, now, true)
  if log then
    take_log(log)
  elseif prepare_lane('due', id, lane) then
    take_lane(id, lane)
  end
end

-- A lane that this worker skips keeps its place. But deliveries whose leases ended may have to wait, and the lane is
-- then due later.
local function visit_unproven(id)
  local lane = lane_of(base, id, now, true)
  if not prepare_lane('unproven', id, lane) then return end
  if limits[id] ~= 0 then return claim_unproven(id, lane) end
  full[id] = true
  if lane.returned then lane_next(base, id, now, lane) end
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'due', '-inf', now, 'LIMIT', '0', text(lanes_max))) do
  if take.left <= 0 or steps >= TAKE_STEPS_MAX or discarded >= DISCARD_MAX then break end
  take_from('due', id, take_due)
end
take.left = math.min(unproven_max, TAKEN_DELIVERIES_MAX)
local till = math.min(now, unproven_till or now)
local function unproven_lanes()
  if take.left <= 0 then return {} end
  return redis.call('ZRANGEBYSCORE', base .. 'unproven', '-inf', text(till), 'LIMIT', '0', text(lanes_max + passed_over))
end

for _, id in ipairs(unproven_lanes()) do
  if take.left <= 0 or unproven_left <= 0 or steps >= TAKE_STEPS_MAX or discarded >= DISCARD_MAX then break end
  take_from('unproven', id, visit_unproven)
end
save_leases(base)
write_drops(base)
write_counts(base)

-- When this worker should next read `unproven`: at the time of the first lane that is not full for it. If some lane is
-- full, it is at most FULL_LOOK_MS from now, because that lane may not be full by then.
local function next_unproven()
  local any_full = next(full) and now + FULL_LOOK_MS
  local line = redis.call('ZRANGE', base .. 'unproven', '0', text(passed_over + #take.lanes), 'WITHSCORES')
  for i = 1, #line, 2 do
    if not full[line[i]] and limits[line[i]] ~= 0 then return earlier(tonumber(line[i + 1]), any_full) end
  end
  return any_full or tonumber(line[2])
end

-- Bodies of these deliveries, until they have body_bytes_max bytes.
local bodies, bytes_left, brought = {}, body_bytes_max, {}

local function bring(deliveries, first, step)
  for i = first, #deliveries, step do
    local message = string.sub(deliveries[i], 1, 16)
    if bytes_left <= 0 then return end
    if not brought[message] then
      brought[message] = true
      local body = redis.pcall('HGET', base .. 'msg:' .. message, BODY.json)
      local is_there = type(body) == 'string'
      bytes_left = bytes_left - (is_there and #body or 0)
      if is_there and bytes_left >= 0 then
        bodies[#bodies + 1] = message
        bodies[#bodies + 1] = body
      end
    end
  end
end

for _, claims in ipairs(take.lanes) do
  bring(claims, 5, 4)
end
for _, row in ipairs(take.followed) do
  bring(row, 3, 1)
end

local due, unproven = head_of(base .. 'due'), next_unproven()
return {
  now, due and text(due) or '', discarded, take.lanes, take.expired, take.followed, take.logs,
  unproven and text(unproven) or '', unreadable, bodies,
}
