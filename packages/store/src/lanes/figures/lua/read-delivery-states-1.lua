-- Finds where deliveries are: waiting, in flight or absent. Changes nothing.
-- @key base: of the shard
-- @list deliveries
-- @item id: text, of the subscription
-- @item delivery: text
-- Returns for each delivery:
--   - w waiting, f in flight, or a absent
--   - waiting: due time, or '' behind another delivery of its group
--   - retry state or ''
--   - absent: when its lane was last purged, or ''
--   - waiting: the letter of the cause for which its lane makes it wait (why-codes.ts), and the earliest end of this
--     wait, or ''
-- @include now
-- @include lane-next
-- @include lane-state
-- @include lane-blocked
-- @include group-rate
-- Deliveries behind a head that are searched for one. Past it: the delivery counts as waiting.
local SEARCH_MAX = 100000
local reply, groups, lanes = {}, {}, {}
local now = now_ms(base)

-- The group of a message; false if its body is gone.
local function group_of_message(delivery)
  local message = string.sub(delivery, 1, 16)
  if groups[message] == nil then
    local body = redis.call('HGET', base .. 'msg:' .. message, BODY.json)
    groups[message] = body and cjson.decode(body).groupId or false
  end
  return groups[message]
end

-- A delivery further back than is searched counts as present.
local function is_behind(id, delivery)
  if not redis.call('HGET', base .. 'lane:' .. id, LANE.fifo) then return false end
  local group = group_of_message(delivery)
  if not group then return false end
  local key = base .. 'behind:' .. id .. ':' .. group
  return redis.call('LPOS', key, delivery, 'MAXLEN', SEARCH_MAX) or redis.call('LLEN', key) > SEARCH_MAX
end

local function lane_at(id)
  if lanes[id] == nil then lanes[id] = lane_of(base, id, now) or false end
  return lanes[id]
end

-- If a retry is due later than the time until which the lane waits, it waits only for its due time.
local function waits_until(letter, due, till)
  return till and due <= math.max(now, till) and letter .. string.format('%.0f', math.max(now, till))
end

local function is_dlq_missing(id)
  return (tonumber(redis.call('HGET', base .. 'lane:' .. id, LANE.dlqMissingUntil)) or 0) > now
end

-- A delivery that was never attempted is due later only because its message could not be opened.
local function lacks_key(id, due, is_retry)
  if is_retry or due <= now then return false end
  return due <= (tonumber(redis.call('HGET', base .. 'lane:' .. id, LANE.lockedUntil)) or 0)
end

-- The letter of the cause for which only probes are sent.
local function shut_letter(id, pace)
  local credential = pace.probe_at and blocked_by(base, id)
  if credential == GONE then return 'y' end
  if not credential then return 'c' end
  return is_token(credential) and 'k' or 'x'
end

local function wait_of(id, due, state, is_retry, ends, down_at)
  local lane = lane_at(id)
  if not lane or lane.deleted then return '' end
  if lane.paused then return redis.call('HGET', base .. 'lane:' .. id, LANE.paused) == GONE and 'y' or 'p' end
  if not due then return 'g' end
  if is_dead(state) then return is_dlq_missing(id) and waits_until('m', due, due) or '' end
  local pace = lane.pace or {}
  local is_empty = is_retry and pace.quota and pace.quota < RETRY_QUOTA_LEAST
  return waits_until(shut_letter(id, pace), due, pace.probe_at)
    or waits_until('q', due, is_empty and pace.next)
    or waits_until('t', due, down_at or lane.rate and lane.tat)
    or ends > 1 and due > now and waits_until('l', due, due)
    or lacks_key(id, due, is_retry) and waits_until('x', due, due)
    or not lane.proven and due <= now and 'u'
    or ''
end

-- When a delivery on a shelf was due, and when it may come down at the earliest.
local function on_shelf(id, delivery, score)
  if not score or tonumber(score) < SHELVED_FROM then return score end
  local group = redis.call('HGET', base .. 'msg:' .. string.sub(delivery, 1, 16), BODY.group)
  local down_at = group and redis.call('ZSCORE', base .. 'shelved:' .. id, group)
  return text(by_group.due_on_shelf(score)), tonumber(down_at or now)
end

for id, delivery in deliveries() do
  local fresh = redis.call('ZSCORE', base .. 'fresh:' .. id, delivery)
  local due, down_at = on_shelf(id, delivery, fresh or redis.call('ZSCORE', base .. 'retry:' .. id, delivery))
  local flying = not due and redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
  local waits = due or not flying and is_behind(id, delivery)
  reply[#reply + 1] = waits and 'w' or flying and 'f' or 'a'
  reply[#reply + 1] = due or ''
  local state, ends = split_state(redis.call('HGET', base .. 'state:' .. id, delivery))
  reply[#reply + 1] = state or ''
  reply[#reply + 1] = not waits and not flying and redis.call('HGET', base .. 'lane:' .. id, LANE.purgedAt) or ''
  reply[#reply + 1] = waits and wait_of(id, tonumber(due), state, not fresh, ends, down_at) or ''
end
return reply
