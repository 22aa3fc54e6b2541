-- Creates a queue or replaces its settings, unless somebody else has written since the record was read.
-- A record that does not grow is replaced even when memory is full.
-- KEYS[1] base
-- ARGV: arn, record as it was read ('' absent), new record, uid for a new queue, visibility ms, retention ms, delay ms,
--   maxReceiveCount or '', dead-letter queue or '', '1' where a deduplication id may be made from the body, '1' where
--   one holds within a group only
-- Returns 1, or 0 where the record is another by now.
-- @include when-full
local base, arn = KEYS[1], ARGV[1]
local key = base .. 'queue:' .. arn
if #ARGV[3] <= #ARGV[2] then run_when_full(base) end
if (redis.call('HGET', key, 'record') or '') ~= ARGV[2] then return 0 end
redis.call('HSET', key, 'record', ARGV[3], 'v', ARGV[5], 'r', ARGV[6], 'd', ARGV[7], 'm', ARGV[8], 't', ARGV[9],
  'cb', ARGV[10], 'gs', ARGV[11])
if redis.call('HSETNX', key, 'uid', ARGV[4]) == 1 then redis.call('ZADD', base .. 'queues', 0, arn) end
redis.call('PUBLISH', 'ft:wake:changes', arn)
return 1
