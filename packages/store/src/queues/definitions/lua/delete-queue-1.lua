-- Removes a queue. From now on no call finds it. Its items are noted for drop-queue, and the time is kept for a minute.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg own_of: text, '' or a topic's ARN: only that topic's own queue, and only if it is empty
-- @arg only_uid: text, '' or the queue's uid: no other queue of this name
-- Returns false if there is no such queue, else: uid, dead-letter queue or '', number of messages in it.
-- @include now
-- @include redrive-end
-- @include when-full
local key = base .. 'queue:' .. arn
run_when_full(base)
local h = redis.call('HMGET', key, QUEUE.uid, QUEUE.target, QUEUE.topic)
if not h[1] or only_uid ~= '' and h[1] ~= only_uid then return false end
if own_of ~= '' then
  local is_filled = redis.call('EXISTS', base .. 'q:' .. h[1] .. ':age') == 1
  if h[3] ~= own_of or is_filled then return false end
end
h[3] = redis.call('ZCARD', base .. 'q:' .. h[1] .. ':age')
redis.call('HDEL', base .. 'letters', arn)
redis.call('ZREM', base .. 'queues', arn)
redis.call('SADD', base .. 'queues:deleted', h[1])
redis.call('DEL', key)
redis.call('SET', base .. 'queue:deleted:' .. arn, now_ms(base), 'PX', NUMBER.DELETED_MS)
-- The run of a redrive notices by itself that its source is gone. A paused redrive has no run. It would keep every
-- later queue of this name from being redriven, so it is ended here.
local task = redis.call('HGET', base .. 'redriving', arn)
if task and redis.call('HGET', base .. 'redrive:' .. task, 'status') == 'paused' then
  end_task(base, base .. 'redrive:' .. task, 'failed', 'the source queue is gone', now_ms(base) - clock_ahead)
end
redis.call('PUBLISH', 'ft:wake:queues', arn)
redis.call('PUBLISH', 'ft:wake:changes', arn)
if redis.call('ZREM', base .. 'consuming', arn) == 1 then redis.call('PUBLISH', 'ft:wake:push-consumers', arn) end
return h
