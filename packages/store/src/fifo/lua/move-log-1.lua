-- Moves the first messages of a FIFO log, or of an isolated group's log, into lanes, and reads the next ones. Only the
-- log's reader may do that, and its lease is renewed. A message that is for no lane leaves the log too. If the reply is
-- lost, the reader repeats the request. Its first message is then no longer in the log, so the script moves nothing.
-- @key base: of the shard
-- @arg shard: digits
-- @arg uid: text, the topic's
-- @arg arn: text
-- @arg group: text, isolated, or ''
-- @arg fence: digits
-- @arg messages_max: number, to read
-- @arg bytes_max: number, to read; one message is read whatever its size
-- @arg ending: text, how the reader ends: '' it continues, 'done' another may have the log at once, 'failed' when the
--   lease ends. 'locked': the key of the first message is missing (fifo-isolation); it continues with other groups
-- @rest values: subscriptions, each: id, '1' or '2' (several of a group may be sent at once); messages, each: id (16
--   bytes), number of lanes or -1 (it is too old, and counts as expired), position of each lane's subscription. Both
--   lists are preceded by their length; positions count from 1. With 'locked' the ids of locked messages follow.
-- Returns 'stale' (another reader has the log), 'gone' (the topic is deleted), or a list:
--   - earliest due time or ''
--   - wakes published (lane-wake)
--   - number of readers that have died at the first message
--   - about a message that must wait now (fifo-isolation): id or '', number of readers that died at it, delay in ms,
--     body or false
--   - for each message read: id and group, body or false
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-count
-- @include lane-group
-- @include lane-park
-- @include fifo-log
-- @include fifo-isolation
local log, at = log_of(base, uid, group ~= '' and group or nil), values_at - 1
run_when_full(base)
local state = read_log_state(log)
if state.fence ~= fence then return 'stale' end
local now, before = now_ms(base), first_due(base)
if not is_log_open(base, uid, arn) then
  set_log_due(base, log, now)
  wake_if_earlier(base, shard, before, now, first_unproven)
  return 'gone'
end

local function next_arg()
  at = at + 1
  return ARGV[at]
end

local subscriptions = {}
for i = 1, tonumber(next_arg()) do
  subscriptions[i] = { id = next_arg(), fifo = next_arg() }
end

-- Puts the delivery into a lane. Returns false if the subscription is deleted.
local function place(subscription, delivery, of)
  local id = subscription.id
  if not is_lane_open(base, id, now) then
    count('discarded:unsubscribed', 1)
    return false
  end
  mark_fifo(base, id, subscription.fifo)
  if join_group(base, id, of, delivery, now) then put_in_set(base, id, delivery, 'fresh', now) end
  return true
end

-- The log's own reference to the body is replaced by one for each lane.
local function move(id, of)
  local placed, n = 0, tonumber(next_arg())
  if n < 0 then count('expired', 1) end
  for _ = 1, n do
    if place(subscriptions[tonumber(next_arg())], id, of) then placed = placed + 1 end
  end
  refer(id, placed - 1)
end

-- The ids in ARGV from this position on, as a set.
local function ids_from(first)
  local ids = {}
  for i = first, #ARGV do
    ids[ARGV[i]] = true
  end
  return ids
end

-- Moves only entries that are still as they were read. If Redis has lost its latest writes, other messages may be
-- there.
local listed, moved = tonumber(next_arg()), 0
for _, entry in ipairs(listed > 0 and redis.call('LRANGE', log.list, 0, listed - 1) or {}) do
  local id = next_arg()
  if string.sub(entry, 1, 16) ~= id then break end
  move(id, string.sub(entry, 17))
  moved = moved + 1
end
if moved > 0 then redis.call('LPOP', log.list, moved) end
note_moved(log, state, moved)
write_drops(base)
write_counts(base)
finish_park(base, now)

local locked = ending == 'locked' and postpone_locked(base, log, ids_from(at + 1), messages_max, now)
local isolated = judge_first(base, log, state, now)
local reads = (ending == '' or ending == 'locked') and not (log.group and (isolated or locked))
local entries = reads and first_entries(base, log, messages_max) or {}
local function body_of(id)
  return redis.call('HGET', base .. 'msg:' .. id, BODY.json)
end

local reply = { '', 0, state.failed, '', 0, 0, false }
if isolated then
  reply[4], reply[5], reply[6], reply[7] = isolated[1], isolated[2], isolated[3], body_of(isolated[1])
end
local bytes = 0
for i, entry in ipairs(entries) do
  local body = body_of(string.sub(entry, 1, 16))
  bytes = bytes + (body and #body or 0)
  if i > 1 and (bytes > bytes_max or is_isolating(log, state)) then break end
  reply[#reply + 1], reply[#reply + 2] = entry, body
end

if #entries > 0 then
  if is_isolating(log, state) then note_under_way(log, state, string.sub(entries[1], 1, 16)) end
  set_log_due(base, log, now + LOG_LEASE_MS)
elseif redis.call('EXISTS', log.list) == 0 then
  note_end(log, state)
  end_log(base, log)
elseif not (isolated and log.group) then
  note_end(log, state)
  if locked and log.group then
    set_log_due(base, log, locked)
  elseif ending ~= 'failed' then
    set_log_due(base, log, now)
  end
end
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
reply[1], reply[2] = due and text(due) or '', woke
return reply
