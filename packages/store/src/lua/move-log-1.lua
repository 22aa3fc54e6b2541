-- Moves the first messages of a FIFO topic's log into its subscriptions' lanes and reads those that follow; only for the
-- reader that has the log, whose lease begins anew. A message for no lane leaves the log with them. A request that is
-- repeated, because its reply was lost, finds its first message gone and moves nothing.
-- KEYS[1] the shard's prefix
-- ARGV    shard number, topic's uid, ARN, fence, messages to read at most, bytes to read at most (one message is read
--         whatever its size), '1' to let go of the log; subscriptions, each: id, '1' or '2' (several of a group may be
--         sent at once); messages, each: id (16 bytes), number of lanes, position of each lane's subscription. Both
--         lists are preceded by their length; positions count from 1.
-- Returns 'stale' (another reader has the log) or 'gone' (the topic is deleted); else a list: earliest due time or '',
--         wakes published (lane-wake), then of each message read: id and group, body or false
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-count
-- @include lane-group
-- @include lane-park
-- @include fifo-log
local base, shard, uid, arn = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local log, at = base .. 'log:' .. uid, 7
run_when_full(base)
if redis.call('HGET', base .. 'fifo:' .. uid, 'f') ~= ARGV[4] then return 'stale' end
local now, before = now_ms(base), first_due(base)
if not is_log_open(base, uid, arn) then
  set_log_due(base, uid, now)
  wake_if_earlier(base, shard, before, now, first_turn)
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

-- True where a lane has it now; false where the subscription is deleted.
local function place(subscription, delivery, group)
  local id = subscription.id
  if not open_lane(base, id, now) then
    count('discarded:unsubscribed', 1)
    return false
  end
  if lanes[id].fifo ~= subscription.fifo then
    lanes[id].fifo = subscription.fifo
    redis.call('HSET', base .. 'lane:' .. id, 'f', subscription.fifo)
  end
  if join_group(base, id, group, delivery) then put_in_set(base, id, delivery, 'fresh', now) end
  return true
end

-- The log's own reference to the body becomes one for each lane.
local function move(id, group)
  local placed = 0
  for _ = 1, tonumber(next_arg()) do
    if place(subscriptions[tonumber(next_arg())], id, group) then placed = placed + 1 end
  end
  refer(id, placed - 1)
end

-- Only as far as the log still is what was read: where Redis has lost its last moments, others may stand in their places.
local listed, moved = tonumber(next_arg()), 0
for _, entry in ipairs(listed > 0 and redis.call('LRANGE', log, 0, listed - 1) or {}) do
  local id = next_arg()
  if string.sub(entry, 1, 16) ~= id then break end
  move(id, string.sub(entry, 17))
  moved = moved + 1
end
if moved > 0 then redis.call('LPOP', log, moved) end
write_drops(base)
write_counts(base)
finish_park(base, now)

local reply, bytes = { '', 0 }, 0
for _, entry in ipairs(redis.call('LRANGE', log, 0, ARGV[5] - 1)) do
  local body = redis.call('HGET', base .. 'msg:' .. string.sub(entry, 1, 16), 'b')
  bytes = bytes + (body and #body or 0)
  if #reply > 2 and bytes > tonumber(ARGV[6]) then break end
  reply[#reply + 1], reply[#reply + 2] = entry, body
end
if #reply == 2 then
  redis.call('ZREM', base .. 'due', 'log:' .. uid)
else
  set_log_due(base, uid, ARGV[7] == '1' and now or now + LOG_LEASE_MS)
end
local due, woke = wake_if_earlier(base, shard, before, now, first_turn)
reply[1], reply[2] = due and text(due) or '', woke
return reply
