-- Removes expired tasks from the index. It checks the oldest `tasks_max`.
-- @key base: of the shard
-- @arg tasks_max: number
-- Returns the number of tasks taken out.
-- @include when-full
local pruned = 0
run_when_full(base)
for _, id in ipairs(redis.call('ZRANGE', base .. 'redrives', 0, tasks_max - 1)) do
  if redis.call('EXISTS', base .. 'redrive:' .. id) == 0 then
    pruned = pruned + redis.call('ZREM', base .. 'redrives', id)
  end
end
return pruned
