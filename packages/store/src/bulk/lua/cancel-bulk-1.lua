-- Cancels a running bulk task. The run that has it ends the task after its present batch.
-- @key base: of bulk tasks
-- @arg id: text
-- Returns 1, or 0 if the task does not run
-- @include when-full
run_when_full(base)
local task = base .. 'task:' .. id
local status = redis.call('HGET', task, BULK.status)
if status ~= 'running' and status ~= 'canceling' then return 0 end
redis.call('HSET', task, BULK.status, 'canceling')
return 1
