-- Starts a resend, unless its subscription has an active one. A resend is a redrive task whose messages are in the ring
-- of a topic.
-- @key base: of the topic's home shard
-- @arg topic: text, ARN
-- @arg source: text, ARN of the subscription
-- @arg id: text
-- @arg counts: flag, whether it only counts
-- @arg filter: text, JSON
-- @arg since: number, ms
-- @arg rate: text, messages a second, or ''
-- Returns false if the topic keeps no messages, else 'counted', 'active' or 'created', and the number of messages that
--   were kept since then.
-- @include now
-- @include kept-search
-- @include kept
local ring = open_ring(base, topic)
if not ring then return false end
local from = string.format('%.0f', math.max(0, since) * NUMBER.KEPT_STEPS)
local matched = redis.call('ZCOUNT', ring.order, from, '+inf') + kept_beyond_places(ring, from)
if counts then return { 'counted', matched } end
if redis.call('HEXISTS', base .. 'redriving', source) == 1 then return { 'active', matched } end
local newest = redis.call('ZRANGE', ring.order, -1, -1, 'WITHSCORES')[2] or from
redis.call('HSET', base .. 'redrive:' .. id, TASK.id, id, TASK.action, 'resend', TASK.source, source, TASK.uid, ring.uid, TASK.topic, topic,
  TASK.destination, '', TASK.edit, '', TASK.filter, filter, TASK.newest, newest, TASK.matched, matched,
  TASK.maxMessagesPerSecond, rate, TASK.status, 'running', TASK.moved, 0, TASK.skipped, 0,
  TASK.startedAt, now_ms(base), TASK.endedAt, '', TASK.error, '', TASK.fence, 0, TASK.batch, 0, TASK.score, from,
  TASK.last, '')
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return { 'created', matched }
