-- Gives a run of a task its fence, which makes every earlier run stale.
-- @key base: of the source
-- @arg id: text
-- Returns the fence, or 0 if the task is not to be run.
-- @include when-full
local key = base .. 'redrive:' .. id
local status = redis.call('HGET', key, TASK.status)
if status ~= 'running' and status ~= 'canceling' then return 0 end
run_when_full(base)
return redis.call('HINCRBY', key, TASK.fence, 1)
