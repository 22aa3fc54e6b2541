-- Gives a run of a task the fence that makes every earlier run of it stale.
-- @key base: of the source
-- @arg id: text
-- Returns the fence, or 0 where the task is not to be run.
-- @include when-full
local key = base .. 'redrive:' .. id
local status = redis.call('HGET', key, TASK.status)
if status ~= 'running' and status ~= 'canceling' then return 0 end
run_when_full(base)
return redis.call('HINCRBY', key, TASK.fence, 1)
