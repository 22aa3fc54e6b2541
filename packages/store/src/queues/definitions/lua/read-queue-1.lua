-- Reads a queue's record and counts its items, without those that are too old.
-- @key base: of the queue's shard
-- @arg arn: text
-- Returns false if there is none, else: record, visible, in flight, delayed, groups in flight, when the
--   oldest came into this queue or ''; of a standard queue with message groups also a list: noisy groups, visible and
--   in flight of the quiet ones, and when the first visible one of these came or ''.
-- @include when-full
-- @include queue
-- @include queue-fair
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
expire_items(queue, EXPIRED_MAX)
local q, now = queue.q, string.format('%.0f', queue.clock)
local function due(place) return redis.call('ZCOUNT', q .. place, '-inf', now) end
local function later(place) return redis.call('ZCOUNT', q .. place, '(' .. now, '+inf') end

local function counts()
  local busy = later('flight') + redis.call('ZCARD', q .. 'moving') + redis.call('ZCARD', q .. 'chosen')
  local delayed = later('delayed')
  if queue.grouped then return redis.call('ZCARD', q .. 'age') - busy - delayed, busy, delayed, 0 end
  return redis.call('ZCARD', q .. 'ready') + due('flight') + due('delayed'), busy, delayed, 0
end

-- Items that are in flight, chosen for a redrive or on their way to another queue become visible later. An item
-- received before the delay was raised counts as delayed.
local function counts_in_order()
  local busy, delayed = later('flight'), 0
  if queue.delay > 0 then delayed = redis.call('ZCOUNT', q .. 'age', queue.clock - queue.delay + 1, '+inf') end
  return math.max(redis.call('ZCARD', q .. 'age') - busy - delayed, 0), busy, delayed, later('back')
end

local visible, busy, delayed, groups = (queue.fifo and counts_in_order or counts)()
local function came_at(id)
  if not id then return '' end
  local h = members_of(queue, id, ITEM.deadAt, ITEM.sentAt)
  return h[1] or h[2] or ''
end

local oldest = redis.call('ZRANGE', q .. 'age', 0, 0)[1]
local reply = { redis.call('HGET', queue.key, QUEUE.record), visible, busy, delayed, groups, came_at(oldest) }
if queue.grouped then
  local noisy, quiet_visible, quiet_busy, first = quiet_figures(queue, visible, busy)
  reply[7] = { noisy, quiet_visible, quiet_busy, came_at(first) }
end
return reply
