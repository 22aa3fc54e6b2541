-- Parks a batch of redriven dead letters. What this batch parked before stays parked once, also where it has been
-- delivered since: the shard remembers the batch's items. A lower fence or an earlier batch changes nothing.
-- KEYS[1] the shard's prefix
-- ARGV    shard number; messages, each: id, body; task, fence, batch; entries, each: subscription, delivery, message,
--         item. Both lists are preceded by their length; messages count from 1.
-- Returns earliest due time or '', whether a wake was published (1), then 0 where stale, or a list: 1 parked,
--         0 present, -1 gone (not counted: the item stays in its queue)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-park
local BATCH_MS = 86400000
local base, shard = KEYS[1], ARGV[1]
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local at = 3 + 2 * tonumber(ARGV[2])
local key, fence, batch = base .. 'redriven:' .. ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
local stored = redis.call('HMGET', key, 'f', 'b')
local last = tonumber(stored[2]) or batch
if (tonumber(stored[1]) or 0) > fence or last > batch then return { '', 0, 0 } end
if last < batch then redis.call('DEL', key) end
redis.call('HSET', key, 'f', fence, 'b', batch)
redis.call('PEXPIRE', key, BATCH_MS)

local function park_entry(id, delivery, message, item)
  if redis.call('HEXISTS', key, item) == 1 then return 0 end
  if not open_lane(base, id, now) then return -1 end
  if is_present(base, id, delivery) then return 0 end
  put_in_lane(base, id, delivery, message, 'fresh', now)
  redis.call('HSET', key, item, '')
  return 1
end

local outcomes = {}
for i = 1, tonumber(ARGV[at + 3]) do
  local entry = at + 4 * i
  outcomes[i] = park_entry(ARGV[entry], ARGV[entry + 1], tonumber(ARGV[entry + 2]), ARGV[entry + 3])
end
finish_park(base, now, 3)
local due, woke = wake_if_earlier(base, shard, before, now)
return { due and text(due) or '', woke and 1 or 0, outcomes }
