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
-- @arg until_kept: number?, ms; messages are awaited that are kept up to then, nil: those of now are all
-- @arg follows: flag, whether it goes on until it is told to end (end-following)
-- Returns false if the topic keeps no messages, else 'counted', 'active' or 'created', and the number of messages that
--   were kept since then, those of the archive included.
-- @include now
-- @include kept-search
-- @include kept
-- Blocks of an archive that are counted. Past it: the number has only their messages.
local COUNTED_BLOCKS_MAX = 10000
-- No ring has a higher score.
local FAR_SCORE = '9007199254740991'
local ring = open_ring(base, topic)
if not ring then return false end
local since_score = math.max(0, since) * NUMBER.KEPT_STEPS
local from = string.format('%.0f', since_score)

local function count_blocks()
  local index, messages = base .. 'archive:blocks:' .. ring.uid, 0
  local blocks = redis.call('ZRANGEBYSCORE', index, '(' .. from, '+inf', 'LIMIT', 0, COUNTED_BLOCKS_MAX)
  for _, entry in ipairs(blocks) do messages = messages + tonumber(string.match(entry, '^%d+ (%d+)')) end
  return messages
end

-- Messages up to the cursor of the archive are in blocks, even if the ring still has them.
local function count_ring(first)
  return redis.call('ZCOUNT', ring.order, first, '+inf') + kept_beyond_places(ring, first)
end

local matched
if ring.archive then
  matched = count_blocks() + count_ring(string.format('%.0f', math.max(since_score, tonumber(ring.removable) + 1)))
else
  matched = count_ring(from)
end
if counts then return { 'counted', matched } end
if redis.call('HEXISTS', base .. 'redriving', source) == 1 then return { 'active', matched } end
local newest = redis.call('ZRANGE', ring.order, -1, -1, 'WITHSCORES')[2] or (ring.archive and ring.removable) or from
if until_kept then newest = string.format('%.0f', math.max(tonumber(newest), until_kept * NUMBER.KEPT_STEPS)) end
if follows then newest = FAR_SCORE end
redis.call('HSET', base .. 'redrive:' .. id, TASK.id, id, TASK.action, 'resend', TASK.source, source, TASK.uid, ring.uid, TASK.topic, topic,
  TASK.destination, '', TASK.edit, '', TASK.filter, filter, TASK.newest, newest, TASK.matched, matched,
  TASK.maxMessagesPerSecond, rate, TASK.status, 'running', TASK.moved, 0, TASK.skipped, 0,
  TASK.startedAt, now_ms(base), TASK.endedAt, '', TASK.error, '', TASK.fence, 0, TASK.batch, 0, TASK.score, from,
  TASK.last, '', TASK.follows, follows and '1' or '')
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return { 'created', matched }
