-- Removes an API key and announces that. It runs also when memory is full, because somebody may be abusing the key.
-- @key base: of API keys
-- @arg id: text
-- Returns 1 if there was such a key, else 0
-- @include when-full
run_when_full(base)
if redis.call('HDEL', base .. 'records', id) == 0 then return 0 end
-- The record has the account, but may be unreadable.
for _, name in ipairs(redis.call('ZRANGE', base .. 'names', 0, -1)) do
  if string.sub(name, -#id) == id then redis.call('ZREM', base .. 'names', name) end
end
redis.call('DEL', base .. 'bucket:' .. id)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
