-- Creates a queue, or replaces its settings unless they have changed since the record was read. A record that does not
-- grow is replaced even when memory is full.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg expected: text, record as read; '' absent
-- @arg record: text
-- @arg uid: text, of a new queue
-- @arg visibility_ms: digits
-- @arg retention_ms: digits
-- @arg delay_ms: digits
-- @arg receives_max: text, maxReceiveCount, or ''
-- @arg target: text, dead-letter queue, or ''
-- @arg by_content: text, '1' if a deduplication id may be made from the body, or ''
-- @arg group_scope: text, '1' if a deduplication id holds within a group only, or ''
-- Returns 1, or 0 if the record is another by now.
-- @include when-full
local key = base .. 'queue:' .. arn
if #record <= #expected then run_when_full(base) end
if (redis.call('HGET', key, QUEUE.record) or '') ~= expected then return 0 end
redis.call('HSET', key, QUEUE.record, record, QUEUE.visibility, visibility_ms, QUEUE.retention, retention_ms,
  QUEUE.delay, delay_ms, QUEUE.maxReceiveCount, receives_max, QUEUE.target, target, QUEUE.byContent, by_content,
  QUEUE.groupScope, group_scope)
if redis.call('HSETNX', key, QUEUE.uid, uid) == 1 then redis.call('ZADD', base .. 'queues', 0, arn) end
redis.call('PUBLISH', 'ft:wake:changes', arn)
return 1
