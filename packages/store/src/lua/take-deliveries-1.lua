-- Claims what is due, lane by lane, those first that have waited longest; returns ended leases to waiting, expires what
-- is too old, drains the lanes of deleted subscriptions. Everything it does is bounded; what is left stays due.
-- KEYS[1] the shard's prefix
-- ARGV    lanes max, deliveries max, lease in ms, then pairs: subscription, claims its lane may get now
-- Returns now, earliest due time or '', drained deliveries, lanes (each: subscription, slice, slice's revision, then for
--         each claim delivery, lease, send time or '', state or ''), expired (subscription, delivery, ...)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-state
-- @include lane-return
-- @include lane-discard
-- @include lane-claim
-- @include lane-pick
local DELIVERIES_MAX = 1000
local DRAIN_MAX = 1000
local STEPS_MAX = 2000
local POSTPONE_MS = 250
local base = KEYS[1]
run_when_full(base)
local now = now_ms(base)
local take = { base = base, now = now, lease_ms = tonumber(ARGV[3]), lanes = {}, expired = {} }
take.left = math.min(tonumber(ARGV[2]), DELIVERIES_MAX)
local drained, steps, limits = 0, 0, {}
for i = 4, #ARGV, 2 do
  limits[ARGV[i]] = tonumber(ARGV[i + 1])
end

local function drain(id)
  local n = discard_waiting(base, id, DRAIN_MAX - drained, 'discarded:unsubscribed')
  drained = drained + n
end

-- A lane cut short by its limit is looked at again after POSTPONE_MS, or once one of its claims is settled: lanes full
-- of attempts that hang cannot keep others from the head of the line.
local function take_lane(id, lane)
  local max = limits[id] or lane.cap
  local claims = { id, lane.sid, lane.slice.rev }
  local claimed, looked = claim_due(take, id, lane, math.min(max, take.left), claims)
  steps = steps + looked
  if #claims > 3 then take.lanes[#take.lanes + 1] = claims end
  local due = lane_next(base, id, now, lane, true)
  if due and claimed >= max and due < now + POSTPONE_MS then redis.call('ZADD', base .. 'due', now + POSTPONE_MS, id) end
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'due', '-inf', now, 'LIMIT', 0, ARGV[1])) do
  if take.left <= 0 or steps >= STEPS_MAX or drained >= DRAIN_MAX then break end
  local lane = lane_of(base, id, now)
  if lane and not lane.paused then steps = steps + return_leases(base, id, '-inf', now, now) end
  if lane and lane.gone then drain(id) end
  if lane and not lane.gone and not lane.paused then
    take_lane(id, lane)
  else
    lane_next(base, id, now, lane, true)
  end
end
save_leases(base)
write_counts(base)
local due = head_of(base .. 'due')
return { now, due and exact(due) or '', drained, take.lanes, take.expired }
