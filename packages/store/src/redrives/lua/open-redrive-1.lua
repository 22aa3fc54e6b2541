-- Gives a run of a task the fence that makes every earlier run of it stale.
-- KEYS[1] base of the source
-- ARGV: id
-- Returns the fence, or 0 where the task is not to be run.
-- @include when-full
local key = KEYS[1] .. 'redrive:' .. ARGV[1]
local status = redis.call('HGET', key, 'status')
if status ~= 'running' and status ~= 'canceling' then return 0 end
run_when_full(KEYS[1])
return redis.call('HINCRBY', key, 'fence', 1)
