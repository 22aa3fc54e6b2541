-- Starts a redrive task, unless its source has an active one.
-- KEYS[1] base of the source
-- ARGV: source, id, destination or '', filter (JSON), highest score (queue-scan.lua), matched, rate or ''
-- Returns 'missing' (no such queue), 'active', or 'created'.
-- @include now
-- @include queue
local base, source, id = KEYS[1], ARGV[1], ARGV[2]
local queue = open_queue(base, source)
if not queue then return 'missing' end
if redis.call('HEXISTS', base .. 'redriving', source) == 1 then return 'active' end
redis.call('HSET', base .. 'redrive:' .. id, 'id', id, 'source', source, 'uid', queue.uid, 'destination', ARGV[3],
  'filter', ARGV[4], 'newest', ARGV[5], 'matched', ARGV[6], 'rate', ARGV[7], 'status', 'running', 'moved', 0,
  'skipped', 0, 'startedAt', queue.now, 'endedAt', '', 'error', '', 'fence', 0, 'batch', 0, 'score', '', 'last', '')
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return 'created'
