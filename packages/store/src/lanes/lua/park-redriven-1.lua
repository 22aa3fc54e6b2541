-- Parks a batch of redriven dead letters. The shard remembers the items of the latest batch. A repeated batch therefore
-- parks nothing, even if its deliveries have ended since. A lower fence or an earlier batch changes nothing.
-- @key base: of the shard
-- @arg shard: digits
-- @arg task: text
-- @arg fence: number
-- @arg batch: number
-- @rest values: messages, each: id, body, group or ''; entries, each: subscription, delivery, message, item, group or
--   '', LANE.fifo or ''. Both lists are preceded by their length; messages count from 1.
-- Returns earliest due time or '', wakes published (lane-wake), then one of these:
--   - 0 if the fence is stale
--   - the number of a later batch, if one has been here
--   - a list with one value for each entry: 1 parked, 0 present, -1 gone (not counted: the item stays in its queue)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-group
-- @include lane-park
-- @include lane-try
-- @include lane-redriven
-- How long a shard remembers the last batch of a redrive. After it: a repeated batch is parked again.
local REDRIVEN_KEPT_MS = 86400000
-- Deliveries at the end of a FIFO group among which a redriven one is looked for. Past it: it is parked again.
local REDRIVEN_SEARCH_MAX = 1000
local ENTRY_VALUES = 6
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local key, at = base .. 'redriven:' .. task, values_at + 1 + MESSAGE_VALUES * tonumber(ARGV[values_at])
local stored = redis.call('HMGET', key, REDRIVEN.fence, REDRIVEN.batch)
local last = tonumber(stored[2]) or batch
if (tonumber(stored[1]) or 0) > fence then return { '', 0, 0 } end
if last > batch then return { '', 0, last } end
if last < batch then redis.call('DEL', key) end
redis.call('HSET', key, REDRIVEN.fence, fence, REDRIVEN.batch, batch)
redis.call('PEXPIRE', key, REDRIVEN_KEPT_MS)

-- Whether a redriven delivery that waits behind others is among the last of its group.
local function is_last(id, group, delivery)
  return redis.call('LPOS', behind_key(base, id, group), delivery, 'RANK', -1, 'MAXLEN', REDRIVEN_SEARCH_MAX)
end

-- A single resend (publish-api: resend.ts) is no task that shows ends, so they are not counted.
local is_single = string.sub(task, 1, 7) == 'resend:'

local function park_entry(id, delivery, message, item, group, mark)
  if redis.call('HEXISTS', key, item) == 1 then return 0 end
  if not is_lane_open(base, id, now) then return -1 end
  mark_fifo(base, id, mark)
  local fifo = lanes[id].fifo and group ~= ''
  if is_present(base, id, delivery) or fifo and is_last(id, group, delivery) then return 0 end
  hold_body(base, id, message)
  if not fifo or join_group(base, id, group, delivery, now) then put_in_set(base, id, delivery, 'fresh', now) end
  refer_to(message)
  redis.call('HSET', key, item, '')
  if not is_single then note_sender(base, id, delivery, task) end
  return 1
end

-- If an entry fails, the others are parked nevertheless.
local function try_entry(id, ...)
  local works, outcome = try(park_entry, id, ...)
  if works then return outcome end
  if lanes[id] then lanes[id].unreadable = true end
  return -1
end

bodies_at = values_at + 1
local outcomes = {}
for i = 1, tonumber(ARGV[at]) do
  local entry = at + 1 + ENTRY_VALUES * (i - 1)
  local id, delivery, message, item, group, mark = unpack(ARGV, entry, entry + ENTRY_VALUES - 1)
  outcomes[i] = try_entry(id, delivery, tonumber(message), item, group, mark)
end
finish_park(base, now)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
return { due and text(due) or '', woke, outcomes }
