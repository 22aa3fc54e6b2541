-- Removes at most `items_max` items of a deleted queue. It is called until it returns 0.
-- @key base: of the shard
-- @arg uid: text, the queue's
-- @arg items_max: number
-- Returns the number of items that are left.
-- @include when-full
run_when_full(base)
local q = base .. 'q:' .. uid .. ':'
local ids = redis.call('ZRANGE', q .. 'age', 0, items_max - 1)
for _, id in ipairs(ids) do
  local group = redis.pcall('HGET', q .. 'i:' .. id, ITEM.group)
  redis.call('UNLINK', q .. 'i:' .. id)
  if type(group) == 'string' then redis.call('UNLINK', q .. 'g:' .. group) end
end
redis.call('ZREMRANGEBYRANK', q .. 'age', 0, items_max - 1)
local left = redis.call('ZCARD', q .. 'age')
if left == 0 then
  for _, name in ipairs({ 'ready', 'flight', 'delayed', 'moving', 'chosen', 'recent', 'dead', 'heads', 'back', 'noisy', 'busy',
    'push-consumers' }) do
    redis.call('UNLINK', q .. name)
  end
  redis.call('SREM', base .. 'queues:deleted', uid)
end
return left
