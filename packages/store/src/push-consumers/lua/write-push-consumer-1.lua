-- Creates a queue's push consumer, removes it, or replaces its record unless it has changed since it was read.
-- Removals, and replacements that do not grow, also run when memory is full.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg name: text
-- @arg expected: text, record as read; '' absent
-- @arg record: text, new record; '' to remove it
-- @arg push_consumers_max: number
-- Returns false if there is no such queue, 0 if the record was changed meanwhile, 2 if there are too many consumers,
-- else 1
-- @include when-full
-- @include queue
local queue = open_queue(base, arn)
if not queue then return false end
if #record <= #expected then run_when_full(base) end
local key = queue.q .. 'push-consumers'
if record == '' then
  redis.call('HDEL', key, name)
  if redis.call('EXISTS', key) == 0 then redis.call('ZREM', base .. 'consuming', arn) end
else
  if (redis.call('HGET', key, name) or '') ~= expected then return 0 end
  if expected == '' and redis.call('HLEN', key) >= push_consumers_max then return 2 end
  redis.call('HSET', key, name, record)
  redis.call('ZADD', base .. 'consuming', 0, arn)
end
redis.call('PUBLISH', 'ft:wake:push-consumers', arn)
return 1
