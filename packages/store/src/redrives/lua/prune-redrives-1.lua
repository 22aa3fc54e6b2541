-- Takes tasks out of the index whose own keys have run out, among the oldest `max`.
-- KEYS[1] base
-- ARGV: max
-- Returns the number of tasks taken out.
-- @include when-full
local base, pruned = KEYS[1], 0
run_when_full(base)
for _, id in ipairs(redis.call('ZRANGE', base .. 'redrives', 0, tonumber(ARGV[1]) - 1)) do
  if redis.call('EXISTS', base .. 'redrive:' .. id) == 0 then
    pruned = pruned + redis.call('ZREM', base .. 'redrives', id)
  end
end
return pruned
