-- Starts a planned bulk task. Starting it again changes nothing.
-- @key base: of bulk tasks
-- @arg id: text
-- @arg undoes: text, id of the task that it undoes, or ''
-- @arg running_max: number
-- @arg kept_ms: number
-- Returns 'started', 'missing', 'busy' (too many tasks run) or 'undone' (another task undoes the same one)
-- @include now
-- @include when-full
run_when_full(base)
local task, now = base .. 'task:' .. id, now_ms(base)
local status = redis.call('HGET', task, BULK.status)
if not status then return 'missing' end
if status ~= 'planned' then return 'started' end
if redis.call('ZCARD', base .. 'running') >= running_max then return 'busy' end
local undone = base .. 'task:' .. undoes
if undoes ~= '' and redis.call('EXISTS', undone) == 1 and redis.call('HSETNX', undone, BULK.undoneBy, id) == 0 then
  return 'undone'
end
redis.call('HSET', task, BULK.status, 'running', BULK.startedAt, string.format('%.0f', now))
redis.call('PEXPIRE', task, kept_ms)
redis.call('PEXPIRE', base .. 'objects:' .. id, kept_ms)
redis.call('ZREM', base .. 'planned', id)
redis.call('ZREMRANGEBYSCORE', base .. 'started', '-inf', string.format('%.0f', now - kept_ms))
redis.call('ZADD', base .. 'started', string.format('%.0f', now), id)
redis.call('ZADD', base .. 'running', 0, id)
return 'started'
