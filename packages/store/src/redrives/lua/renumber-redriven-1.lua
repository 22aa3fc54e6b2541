-- Gives a task's open batch a higher number. This is needed if the target has seen a later batch, which the source lost
-- in a failover. The target no longer remembers this batch's items, so they may be moved a second time.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg batch: digits
-- @arg number: digits, its new one
-- Returns 1, or 0 if a later run has the task or the batch is done.
-- @include when-full
local key = base .. 'redrive:' .. id
local h = redis.call('HMGET', key, TASK.fence, TASK.batch, TASK.items)
if h[1] ~= fence or h[2] ~= batch or not h[3] then return 0 end
run_when_full(base)
redis.call('HSET', key, TASK.batch, number)
return 1
