-- Stores the plan of a bulk task. A plan that nobody starts expires. Past plans_max the oldest plan of the same key is
-- dropped, else the oldest of all. A task that frees memory can be planned when memory is full, because its plan
-- expires and its work frees more.
-- @key base: of bulk tasks
-- @arg id: text
-- @arg record: text
-- @arg planner: text, id of the key that plans it, or ''
-- @arg frees: flag, its work frees memory
-- @arg plans_max: number
-- @arg life_ms: number
-- @rest objects
-- Returns nothing
-- @include now
-- @include when-full
if frees then run_when_full(base) end
local now, plans = now_ms(base), base .. 'planned'
redis.call('ZREMRANGEBYSCORE', plans, '-inf', string.format('%.0f', now))
while redis.call('ZCARD', plans) >= plans_max do
  local ids = redis.call('ZRANGE', plans, 0, -1)
  local oldest = ids[1]
  for at = #ids, 1, -1 do
    if redis.call('HGET', base .. 'task:' .. ids[at], BULK.planner) == planner then oldest = ids[at] end
  end
  redis.call('ZREM', plans, oldest)
  redis.call('DEL', base .. 'task:' .. oldest, base .. 'objects:' .. oldest)
end
local task, list = base .. 'task:' .. id, base .. 'objects:' .. id
redis.call('HSET', task, BULK.record, record, BULK.status, 'planned', BULK.total, #ARGV - objects_at + 1,
  BULK.done, 0, BULK.failed, 0, BULK.fence, 0, BULK.planner, planner)
for at = objects_at, #ARGV do redis.call('RPUSH', list, ARGV[at]) end
redis.call('PEXPIRE', task, life_ms)
redis.call('PEXPIRE', list, life_ms)
redis.call('ZADD', plans, string.format('%.0f', now + life_ms), id)
return redis.status_reply('OK')
