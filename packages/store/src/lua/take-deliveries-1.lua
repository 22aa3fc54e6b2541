-- Claims what is due, lane by lane, those first that have waited longest; returns ended leases to waiting, expires what
-- is too old, drains the lanes of deleted subscriptions. Hands out the logs of FIFO topics, which are due beside lanes,
-- and drains those of deleted topics. Everything it does is bounded; what is left stays due.
-- KEYS[1] the shard's prefix
-- ARGV    lanes max, deliveries max, lease in ms, claims of a lane that is not named, logs max, then pairs: subscription,
--         claims its lane may get now
-- Returns now, earliest due time or '', drained deliveries, lanes (each: subscription, slice, slice's revision, then for
--         each claim delivery, lease, send time or '', state or ''), expired (subscription, delivery, ...), runs (each:
--         subscription, claimed delivery, those behind it that may go with it), logs (each: topic's uid, ARN, fence)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-group
-- @include lane-state
-- @include lane-return
-- @include lane-discard
-- @include lane-claim
-- @include lane-pace
-- @include lane-pick
-- @include fifo-log
local DELIVERIES_MAX = 1000
local DRAIN_MAX = 1000
local BEHIND_MAX = 1000
local STEPS_MAX = 2000
local POSTPONE_MS = 250.5
local base = KEYS[1]
run_when_full(base)
local now = now_ms(base)
local take = { base = base, now = now, lease_ms = tonumber(ARGV[3]), lanes = {}, expired = {}, runs = {}, logs = {} }
take.behind_left = BEHIND_MAX
take.left = math.min(tonumber(ARGV[2]), DELIVERIES_MAX)
local drained, steps, limits, others = 0, 0, {}, tonumber(ARGV[4])
for i = 6, #ARGV, 2 do
  limits[ARGV[i]] = tonumber(ARGV[i + 1])
end

local function drain(id, lane)
  local n = discard_waiting(base, id, DRAIN_MAX - drained, 'discarded:unsubscribed', lane.fifo, now)
  drained = drained + n
end

-- Where this worker has readers enough the log is left for a while, to others too.
local function take_log(uid)
  local arn = redis.call('HGET', base .. 'fifo:' .. uid, 'a')
  if not is_log_open(base, uid, arn) then
    drained = drained + drop_log(base, uid, DRAIN_MAX - drained, now)
  elseif #take.logs < tonumber(ARGV[5]) then
    take.logs[#take.logs + 1] = { uid, arn, lend_log(base, uid, now) }
  else
    set_log_due(base, uid, now + POSTPONE_MS)
  end
end

-- Of a lane with an open circuit one delivery is attempted when it is time; what is too old or dead goes as ever.
local function probe_lane(id, lane, max, claims)
  if now >= lane.pace.shut and take.left > 0 and max > 0 then
    local dead = expire_lane(take, id, lane, claims, math.min(max, take.left))
    if dead == 0 and claim_due(take, id, lane, 1, claims) > 0 then begin_probe(take, id, lane) end
    steps = steps + 2 * EXPIRE_MAX
    if claims[4] then take.lanes[#take.lanes + 1] = claims end
  end
  lane_next(base, id, now, lane, now + (max > 0 and 0 or POSTPONE_MS))
end

-- A lane cut short by its limit is looked at again after POSTPONE_MS, or once one of its claims is settled (the half ms
-- tells settle so): lanes full of attempts that hang cannot keep others from the head of the line.
local function take_lane(id, lane)
  local max = limits[id] or (lane.gap and lane.cap) or math.min(lane.cap, others)
  local claims = { id, lane.sid, lane.slice.rev }
  if lane.pace and lane.pace.shut then return probe_lane(id, lane, max, claims) end
  local claimed, looked, more = claim_due(take, id, lane, math.min(max, take.left), claims)
  steps = steps + looked
  if claims[4] then take.lanes[#take.lanes + 1] = claims end
  local not_before = claimed >= max and now + POSTPONE_MS or now
  if more then
    set_due(base, id, now, lane, now, lane.leased, not_before)
  else
    lane_next(base, id, now, lane, not_before)
  end
end

local function return_ended(id, lane)
  lane.leased = first_lease_end(base, id)
  if not lane.leased or lane.leased > now then return end
  steps = steps + return_leases(base, id, 0, now, now)
  lane.leased = first_lease_end(base, id)
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'due', '-inf', now, 'LIMIT', '0', ARGV[1])) do
  if take.left <= 0 or steps >= STEPS_MAX or drained >= DRAIN_MAX then break end
  local uid = log_in_due(id)
  local lane = not uid and lane_of(base, id, now, true)
  if lane and not lane.paused then return_ended(id, lane) end
  if lane and lane.gone then drain(id, lane) end
  if uid then
    take_log(uid)
  elseif lane and not lane.gone and not lane.paused then
    take_lane(id, lane)
  else
    lane_next(base, id, now, lane, now)
  end
end
save_leases(base)
write_drops(base)
write_counts(base)
local due = head_of(base .. 'due')
return { now, due and text(due) or '', drained, take.lanes, take.expired, take.runs, take.logs }
