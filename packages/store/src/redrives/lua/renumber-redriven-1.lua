-- Gives a task's open batch a higher number, because the target has seen a later batch that the source lost in a
-- failover. That batch's memory is then over, so its items may be moved a second time.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg batch: digits
-- @arg number: digits, its new one
-- Returns 1, or 0 where a later run has the task or the batch is done.
-- @include when-full
local key = base .. 'redrive:' .. id
local h = redis.call('HMGET', key, TASK.fence, TASK.batch, TASK.items)
if h[1] ~= fence or h[2] ~= batch or not h[3] then return 0 end
run_when_full(base)
redis.call('HSET', key, TASK.batch, number)
return 1
