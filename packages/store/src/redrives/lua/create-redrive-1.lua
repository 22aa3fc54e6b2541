-- Starts a redrive task, unless its source has an active one.
-- @key base: of the source
-- @arg source: text
-- @arg id: text
-- @arg destination: text, or ''
-- @arg filter: text, JSON
-- @arg by_reason: flag, whether the filter has a reason
-- @arg newest: text, highest score (queue-scan.lua)
-- @arg matched: digits
-- @arg rate: text, messages a second, or ''
-- Returns 'missing' (no such queue), 'active', or 'created'.
-- @include queue
-- @include redrive
local queue = open_queue(base, source)
if not queue then return 'missing' end
if redis.call('HEXISTS', base .. 'redriving', source) == 1 then return 'active' end
redis.call('HSET', base .. 'redrive:' .. id, TASK.id, id, TASK.source, source, TASK.uid, queue.uid,
  TASK.destination, destination, TASK.filter, filter, TASK.newest, newest, TASK.matched, matched,
  TASK.maxMessagesPerSecond, rate, TASK.status, 'running' .. (by_reason and BY_REASON or ''), TASK.moved, 0,
  TASK.skipped, 0, TASK.startedAt, queue.now, TASK.endedAt, '', TASK.error, '', TASK.fence, 0, TASK.batch, 0,
  TASK.score, '', TASK.last, '')
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return 'created'
