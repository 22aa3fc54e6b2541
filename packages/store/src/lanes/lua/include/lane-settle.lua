-- The functions that settle a claim whose lease is current, one for each result. Each returns 1, or the lease that is
-- current from now on. A batch has all claims of one lane, and write_batch makes most of their writes together.
-- @include lane-next
-- @include lane-lease
-- @include lane-group
-- @include lane-body
-- @include lane-count
-- @include lane-state
-- @include lane-return
-- @include lane-blocked
-- @include lane-redriven
local settle = {}
-- First pause of a delivery that waits for a missing dead-letter queue. After it: the queue is looked up again.
local DLQ_MISSING_MS_MIN = 2000
-- With a missing queue, a lane checks for it at most five times a second.
local DLQ_MISSING_GAP_MS = 200
-- How long a lane shows `dlqMissing` after the time of its latest check.
local DLQ_MISSING_SHOWN_MS = 15000
-- A lane shows that it lacks a key for this long after the time at which its locked messages are due again.
local LOCKED_SHOWN_MS = 5000

-- `leases` belong to the deliveries in ARGV from position `first` on.
local function new_batch(base, id, now, first, leases)
  local current = {}
  for i, lease in ipairs(leases) do
    current[ARGV[first + i - 1]] = tonumber(lease)
  end
  return {
    base = base, id = id, now = now, leases = current, first_end = math.huge, waits = false, lane = nil,
    ended = {}, left = {}, retry = {}, states = {},
  }
end

local function note_lease(batch, lease)
  batch.first_end = math.min(batch.first_end, math.floor(lease / LEASE_UNIT))
end

local function batch_lane(batch)
  batch.lane = batch.lane or lane_of(batch.base, batch.id, batch.now) or { deleted = true }
  return batch.lane
end

-- Whether the lane's due time must be computed again. If the lane is due before the first of its settled leases would
-- have ended, it is due for another reason. Its due time then stays, which saves most settlements a look at the lane
-- (13 of 22 µs). The exceptions are lanes that take has postponed, and lanes in `unproven`.
local function is_due_changed(batch)
  if batch.first_end == math.huge then return false end
  local due = tonumber(redis.call('ZSCORE', batch.base .. 'due', batch.id))
  return batch.waits or not due or due <= batch.now or due >= batch.first_end or due % 1 ~= 0
end

local function remove(batch, delivery, cause)
  local fifo = is_fifo_lease(batch.leases[delivery])
  if fifo and leave_group(batch.base, batch.id, delivery, batch.now) then batch.waits = true end
  batch.leases[delivery] = nil
  batch.ended[#batch.ended + 1] = delivery
  drop_body(delivery)
  local dead = cause == 'deadLettered' and ENDS.dead
  count_end(batch.base, batch.id, delivery, cause and (dead or ENDS.discarded) or ENDS.delivered)
  if cause then count(cause, 1) end
  return 1
end

function settle.delivered(batch, delivery)
  batch.answered = true
  return remove(batch, delivery)
end

-- `followers`: the deliveries that were delivered together with it. Each is preceded by a byte with its
-- length.
function settle.deliveredAll(batch, delivery, followers)
  batch.answered = true
  pop_followers(batch.base, batch.id, delivery, followers)
  return remove(batch, delivery)
end

function settle.deadLettered(batch, delivery)
  batch.found = true
  return remove(batch, delivery, 'deadLettered')
end

function settle.discard(batch, delivery, cause)
  batch.answered = true
  return remove(batch, delivery, cause == 'expired' and cause or 'discarded:' .. cause)
end

-- The caller has already added the entry to the quarantine, which is in another slot.
function settle.quarantined(batch, delivery)
  return remove(batch, delivery, 'quarantined')
end

function settle.retry(batch, delivery, state, delay)
  batch.answered = true
  if batch_lane(batch).deleted then return remove(batch, delivery, 'discarded:unsubscribed') end
  batch.leases[delivery] = nil
  batch.waits = true
  local n = #batch.retry
  batch.left[#batch.left + 1] = delivery
  batch.states[n + 1], batch.states[n + 2] = delivery, state
  batch.retry[n + 1], batch.retry[n + 2] = text(math.ceil(batch.now + delay)), delivery
  return 1
end

-- The delivery is due again after the delay. No attempt is counted.
function settle.returnToLane(batch, delivery, _, delay)
  if batch_lane(batch).deleted then return remove(batch, delivery, 'discarded:unsubscribed') end
  batch.leases[delivery] = nil
  batch.waits = true
  local state = split_state(redis.call('HGET', batch.base .. 'state:' .. batch.id, delivery))
  put_back(batch.base, batch.id, delivery, state, batch.now, delay)
  return 1
end

-- The delivery was not sent, because the key that opens its message is missing.
function settle.awaitKey(batch, delivery, _, delay)
  local outcome = settle.returnToLane(batch, delivery, nil, delay)
  if not batch.lane.deleted then
    batch.locked_till = math.max(batch.locked_till or 0, batch.now + delay + LOCKED_SHOWN_MS)
  end
  return outcome
end

-- The delivery is declared dead, and its dead-letter queue does not exist. The more deliveries wait for the queue, the
-- longer each waits.
function settle.awaitDlq(batch, delivery, _, delay_max)
  if batch_lane(batch).deleted then return remove(batch, delivery, 'discarded:unsubscribed') end
  batch.leases[delivery] = nil
  batch.waits = true
  local waiting = redis.call('ZCARD', batch.base .. 'retry:' .. batch.id)
  local delay = math.min(math.max(DLQ_MISSING_MS_MIN, waiting * DLQ_MISSING_GAP_MS), delay_max)
  put_back(batch.base, batch.id, delivery, true, batch.now, delay)
  batch.missing_till = math.max(batch.missing_till or 0, batch.now + delay + DLQ_MISSING_SHOWN_MS)
  return 1
end

-- The attempt has ended, and is not counted. The number of leases that ended one after the other without a result
-- begins again at 0.
function settle.returnUncounted(batch, delivery)
  local key = batch.base .. 'state:' .. batch.id
  local state, ends = split_state(redis.call('HGET', key, delivery))
  if ends > 0 and state then redis.call('HSET', key, delivery, state) end
  if ends > 0 and not state then redis.call('HDEL', key, delivery) end
  return settle.returnToLane(batch, delivery)
end

-- The service's own configuration prevented the attempt, or would have prevented it. No attempt is counted, and the
-- lane is blocked.
function settle.block(batch, delivery, credential, delay)
  local outcome = settle.returnUncounted(batch, delivery)
  local lane = batch_lane(batch)
  if not lane.deleted then block(batch.base, batch.id, lane, math.ceil(batch.now + delay), credential) end
  return outcome
end

-- The attempt continues; only its result so far is recorded.
function settle.continueClaim()
  return 1
end

function settle.declareDead(batch, delivery, state, lease_ms)
  batch.answered = true
  set_failed(batch.base, batch.id, delivery, state, batch.now)
  local lease = batch.leases[delivery]
  if lease < (batch.now + lease_ms) * LEASE_UNIT then
    lease = new_lease(batch.base, batch.now + lease_ms, is_fifo_lease(lease))
    batch.leases[delivery] = lease
    batch.waits = true
    redis.call('ZADD', batch.base .. 'lease:' .. batch.id, text(lease), delivery)
  end
  return text(lease)
end

-- Under an open circuit, the probe's lease ends when the circuit does (lane-pace). The endpoint's answer was noted
-- before and has moved that end. If it has not moved, no request was sent, and the next probe may go at once. A
-- delivery that was claimed before the circuit opened is not a probe, and changes nothing here. A lane
-- may be blocked without such notes: there the settlement shows whether the probe's attempt reached its endpoint.
local function end_probe(batch, first, leases)
  local lane = batch.lane or lane_of(batch.base, batch.id, batch.now)
  batch.lane = lane
  local probe_at = lane and lane.pace and lane.pace.probe_at
  if not probe_at then return end
  for i, lease in ipairs(leases) do
    local is_probe = lease and math.floor(tonumber(lease) / LEASE_UNIT) == probe_at
    if is_probe and batch.answered and blocked_by(batch.base, batch.id) then
      return unblock(batch.base, batch.id, lane)
    end
    if is_probe and not batch.leases[ARGV[first + i - 1]] then
      lane.pace.probe_at = batch.now
      redis.call('HSET', batch.base .. 'lane:' .. batch.id, LANE.openUntil, text(batch.now))
    end
  end
end

local function write_batch(batch)
  local base, id = batch.base, batch.id
  if batch.found then redis.call('HDEL', base .. 'lane:' .. id, LANE.dlqMissingUntil) end
  if batch.missing_till then redis.call('HSET', base .. 'lane:' .. id, LANE.dlqMissingUntil, text(batch.missing_till)) end
  if batch.locked_till then redis.call('HSET', base .. 'lane:' .. id, LANE.lockedUntil, text(batch.locked_till)) end
  if #batch.left > 0 then
    redis.call('HSET', base .. 'state:' .. id, unpack(batch.states))
    redis.call('ZADD', base .. 'retry:' .. id, unpack(batch.retry))
    redis.call('ZREM', base .. 'lease:' .. id, unpack(batch.left))
    note_failure(base, id, batch.states[#batch.states], batch.now)
  end
  if #batch.ended > 0 then
    redis.call('ZREM', base .. 'lease:' .. id, unpack(batch.ended))
    redis.call('HDEL', base .. 'state:' .. id, unpack(batch.ended))
  end
end
