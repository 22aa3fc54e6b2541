-- Removes an API key and announces that. It runs also when memory is full, because somebody may be abusing the key.
-- @key base: of API keys
-- @arg id: text
-- Returns 1 if there was such a key, else 0
-- @include when-full
run_when_full(base)
local text = redis.call('HGET', base .. 'records', id)
if not text then return 0 end
redis.call('HDEL', base .. 'records', id)
redis.call('ZREM', base .. 'names', cjson.decode(text).account .. ' ' .. id)
redis.call('DEL', base .. 'bucket:' .. id)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
