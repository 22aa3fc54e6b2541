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

local function count_ring(first)
  return redis.call('ZCOUNT', ring.order, first, '+inf') + kept_beyond_places(ring, first)
end

-- Messages up to the cursor of the archive are in blocks, even if the ring still has them. Those from before the
-- archive are in no block.
local function count_archive()
  local index = base .. 'archive:blocks:' .. ring.uid
  local blocks = redis.call('ZRANGEBYSCORE', index, '(' .. from, '+inf', 'LIMIT', 0, COUNTED_BLOCKS_MAX)
  local first = blocks[1] and tonumber(string.match(blocks[1], '^%d+')) or 0
  local behind = string.format('%.0f', math.max(since_score, tonumber(ring.removable) + 1))
  local messages = count_ring(#blocks == 0 and from or behind)
  if first > since_score then messages = messages + count_ring(from) - count_ring(string.format('%.0f', first + 1)) end
  for _, entry in ipairs(blocks) do messages = messages + tonumber(string.match(entry, '^%d+ (%d+)')) end
  return messages
end

local matched = ring.archive and count_archive() or count_ring(from)
if counts then return { 'counted', matched } end
if redis.call('HEXISTS', base .. 'redriving', source) == 1 then return { 'active', matched } end
local newest = redis.call('ZRANGE', ring.order, -1, -1, 'WITHSCORES')[2] or from
if ring.archive then newest = string.format('%.0f', math.max(tonumber(newest), tonumber(ring.removable))) end
if until_kept then newest = string.format('%.0f', math.max(tonumber(newest), until_kept * NUMBER.KEPT_STEPS)) end
if follows then newest = FAR_SCORE end
redis.call('HSET', base .. 'redrive:' .. id, TASK.id, id, TASK.action, 'resend', TASK.source, source, TASK.uid, ring.uid, TASK.topic, topic,
  TASK.destination, '', TASK.edit, '', TASK.filter, filter, TASK.newest, newest, TASK.matched, matched,
  TASK.maxMessagesPerSecond, rate, TASK.status, 'running', TASK.moved, 0, TASK.skipped, 0,
  TASK.startedAt, now_ms(base), TASK.endedAt, '', TASK.error, '', TASK.fence, 0, TASK.batch, 0, TASK.score, from,
  TASK.last, '', TASK.follows, follows and '1' or '',
  TASK.untilKept, until_kept and string.format('%.0f', until_kept) or '', TASK.archive, ring.archive and redis.call('HGET', ring.archive, ARCHIVE.since) or '')
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return { 'created', matched }
