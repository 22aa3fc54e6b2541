-- Reads a queue's record and counts its items, without those that are too old.
-- @key base: of the queue's shard
-- @arg arn: text
-- Returns false if there is none, else: record, visible, in flight, delayed, groups in flight, when the
--   oldest came into this queue or ''.
-- @include when-full
-- @include queue
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
expire_items(queue, EXPIRED_MAX)
local q, now = queue.q, string.format('%.0f', queue.clock)
local function due(place) return redis.call('ZCOUNT', q .. place, '-inf', now) end
local function later(place) return redis.call('ZCOUNT', q .. place, '(' .. now, '+inf') end

local function counts()
  local visible = redis.call('ZCARD', q .. 'ready') + due('flight') + due('delayed')
  local busy = later('flight') + redis.call('ZCARD', q .. 'moving') + redis.call('ZCARD', q .. 'chosen')
  return visible, busy, later('delayed'), 0
end

-- Items that are in flight, chosen for a redrive or on their way to another queue become visible later. An item
-- received before the delay was raised counts as delayed.
local function counts_in_order()
  local busy, delayed = later('flight'), 0
  if queue.delay > 0 then delayed = redis.call('ZCOUNT', q .. 'age', queue.clock - queue.delay + 1, '+inf') end
  return math.max(redis.call('ZCARD', q .. 'age') - busy - delayed, 0), busy, delayed, later('back')
end

local visible, busy, delayed, groups = (queue.fifo and counts_in_order or counts)()
local oldest = redis.call('ZRANGE', q .. 'age', 0, 0)[1]
local since = ''
if oldest then
  local h = members_of(queue, oldest, ITEM.deadAt, ITEM.sentAt)
  since = h[1] or h[2] or ''
end
return { redis.call('HGET', queue.key, QUEUE.record), visible, busy, delayed, groups, since }
