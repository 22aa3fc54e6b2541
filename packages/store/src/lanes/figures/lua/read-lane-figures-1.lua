-- Reads the figures of lanes. Changes nothing.
-- @key base: of the shard
-- @list subscriptions
-- @item id: text
-- Returns for each lane:
--   - waiting, in flight, next attempt or '', rate or ''
--   - its latest attempts: last error, last status code, when that was or '', last success or '', how many attempts and
--     successes ended lately, and in how many ms
--   - the deliveries that come first (the oldest is among them)
--   - the rest of the retry quota, or ''
--   - until when its circuit is open or it is blocked, or ''
--   - '1' if dead deliveries wait for a dead-letter queue that does not exist, or ''
--   - 'x' if it is blocked, 'k' if it waits for an access token, 's' if it lacks the key of sealed messages, or ''
--   - the facts for a verdict (verdict_facts)
-- @include now
-- @include lane-next
-- @include lane-group
-- @include lane-seen
-- @include lane-state
-- @include lane-blocked
local HEADS = 10
local ARRIVALS_MS = 60000
local now, reply = now_ms(base), {}

local function next_attempt(lane, id)
  local due = earlier(head_of(base .. 'fresh:' .. id), head_of(base .. 'retry:' .. id))
  if due and lane.groups then due = with_shelves(base, id, now, lane, due) end
  if not due or lane.paused or lane.deleted then return '' end
  if lane.pace then due = math.max(paced_heads(base, id, now, lane.pace), lane.pace.probe_at or 0) end
  return string.format('%.0f', math.max(due, now, lane.tat or 0))
end

local function latest_attempts(id)
  local h = redis.call('HMGET', base .. 'lane:' .. id, LANE.lastError, LANE.lastStatusCode, LANE.failedAt,
    LANE.succeededAt, LANE.seen)
  local attempts, successes, ms = seen_lately(h[5], now)
  return { h[1] or '', h[2] or '', h[3] or '', h[4] or '', attempts, successes, ms }
end

-- The FIFO group with the oldest head that has failed and has deliveries behind it: group, head, how many are behind.
-- Only the heads that come first are read.
local function blocked_group(id)
  local oldest = {}
  for _, set in ipairs({ 'lease:', 'retry:' }) do
    for _, head in ipairs(redis.call('ZRANGE', base .. set .. id, 0, HEADS - 1)) do
      local state = split_state(redis.call('HGET', base .. 'state:' .. id, head))
      local count = state and not is_dead(state) and number_behind(base, id, head) or 0
      if count > 0 and (not oldest[2] or head < oldest[2]) then
        oldest = { group_of(base, id, head), head, count }
      end
    end
  end
  return oldest
end

-- Failures in a row or '', when the first was or '', '1' if it is paused or '', '1' if its endpoint is proven or '',
-- the ms at which the first lease ends or '', how many deliveries came in the last ARRIVALS_MS or '', for how many
-- seconds deliveries are kept, the blocked group, and how many groups wait for their throttle. The number of arrivals
-- is known only if the first waiting delivery is older than ARRIVALS_MS: all later ones are then still in the lane. In
-- a FIFO lane it is unknown, because some deliveries wait behind the heads of their groups.
local function verdict_facts(id, lane)
  local h = redis.call('HMGET', base .. 'lane:' .. id, LANE.failedInARow, LANE.failingSince, LANE.floor)
  -- Leases of heads that go to queues of Fantail are shorter (lane-claim.lua), and no such queue hangs.
  local fresh, lease_ends = base .. 'fresh:' .. id, lane.fifo ~= '2' and first_lease_end(base, id)
  local first, arrived = head_of(fresh), ''
  if first and first <= now - ARRIVALS_MS and not lane.fifo then
    arrived = redis.call('ZCOUNT', fresh, '(' .. text(now - ARRIVALS_MS), text(now))
  end
  return { h[1] or '', h[2] or '', lane.paused and '1' or '', lane.proven and '1' or '',
    lease_ends and text(lease_ends) or '', arrived,
    math.max(lane.slice.ret or 0, tonumber(h[3]) or 0), lane.fifo and blocked_group(id) or {},
    lane.groups and redis.call('ZCARD', base .. 'shelves:' .. id) or 0 }
end

local function block_letter(id, lane, locked_until)
  local credential = lane.pace and lane.pace.probe_at and blocked_by(base, id) or GONE
  if credential ~= GONE then return is_token(credential) and 'k' or 'x' end
  return (tonumber(locked_until) or 0) > now and 's' or ''
end

local function figures(id)
  local lane = lane_of(base, id, now)
  if not lane then return { 0, 0, '', '', { '', '', '', '', 0, 0, 0 }, {}, '', '', '', '',
    { '', '', '', '', '', '', 0, {}, 0 } } end
  local fresh, retry = base .. 'fresh:' .. id, base .. 'retry:' .. id
  local until_times = redis.call('HMGET', base .. 'lane:' .. id, LANE.dlqMissingUntil, LANE.lockedUntil)
  -- In a FIFO lane, fresh heads are in the order of their due times. Other deliveries may wait behind a head in flight.
  local heads = redis.call('ZRANGE', fresh, 0, lane.fifo and HEADS - 1 or 0)
  for _, delivery in ipairs(redis.call('ZRANGE', retry, 0, HEADS - 1)) do
    heads[#heads + 1] = delivery
  end
  for _, set in ipairs(lane.groups and not lane.fifo and { fresh, retry } or {}) do
    heads[#heads + 1] = redis.call('ZRANGEBYSCORE', set, text(SHELVED_FROM), '+inf', 'LIMIT', '0', '1')[1]
  end
  for _, delivery in ipairs(lane.fifo and redis.call('ZRANGE', base .. 'lease:' .. id, 0, HEADS - 1) or {}) do
    heads[#heads + 1] = behind(base, id, delivery, 1)[1]
  end
  local rate = lane.rate and string.format('%.17g', lane.rate) or ''
  return {
    number_waiting(base, id, lane), redis.call('ZCARD', base .. 'lease:' .. id),
    next_attempt(lane, id), rate, latest_attempts(id), heads,
    lane.pace and lane.pace.quota and text(lane.pace.quota) or '',
    lane.pace and lane.pace.probe_at and text(lane.pace.probe_at) or '',
    (tonumber(until_times[1]) or 0) > now and '1' or '',
    block_letter(id, lane, until_times[2]),
    verdict_facts(id, lane),
  }
end

for id in subscriptions() do
  reply[#reply + 1] = figures(id)
end
return reply
