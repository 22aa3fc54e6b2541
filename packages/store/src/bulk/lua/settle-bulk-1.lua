-- Ends a batch of a bulk task, and the task after its last one. `kind` is 'changed' (value: the object), 'failed'
-- (value: JSON of the failure) or 'counted' (value: what was counted).
-- @key base: of bulk tasks
-- @arg id: text
-- @arg fence: text
-- @arg count: number, objects of the batch
-- @arg lease_ms: number
-- @arg kept_ms: number
-- @arg failures_max: number
-- @list outcomes
-- @item kind: text
-- @item value: text
-- @item n: number
-- Returns the status, or 'stale' if another run has the task
-- @include now
-- @include when-full
run_when_full(base)
local task, now = base .. 'task:' .. id, now_ms(base)
local failures, changed, counts = base .. 'failures:' .. id, base .. 'changed:' .. id, base .. 'counts:' .. id
local h = redis.call('HMGET', task, BULK.fence, BULK.status, BULK.total)
if h[1] ~= fence then return 'stale' end
for kind, value, n in outcomes() do
  if kind == 'changed' then redis.call('RPUSH', changed, value) end
  if kind == 'counted' then redis.call('HINCRBY', counts, value, n) end
  if kind == 'failed' then
    local failed = redis.call('HINCRBY', task, BULK.failed, 1)
    if failed <= failures_max then redis.call('RPUSH', failures, value) end
  end
end
redis.call('HDEL', task, BULK.before)
local done, status = redis.call('HINCRBY', task, BULK.done, count), h[2]
if status == 'canceling' then status = 'canceled' end
if status == 'running' and done >= tonumber(h[3]) then status = 'completed' end
if status == 'running' then
  redis.call('ZADD', base .. 'running', string.format('%.0f', now + lease_ms), id)
else
  redis.call('HSET', task, BULK.status, status, BULK.endedAt, string.format('%.0f', now))
  redis.call('ZREM', base .. 'running', id)
  redis.call('DEL', base .. 'objects:' .. id)
end
for _, key in ipairs({ task, failures, changed, counts, base .. 'objects:' .. id }) do
  redis.call('PEXPIRE', key, kept_ms)
end
return status
