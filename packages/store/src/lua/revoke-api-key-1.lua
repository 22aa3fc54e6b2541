-- Removes an API key and announces that; in a full memory too, since what is revoked may be in wrong hands.
-- KEYS[1] base of API keys
-- ARGV    id
-- Returns 1 where there was such a key, else 0
local base, id = KEYS[1], ARGV[1]
local text = redis.call('HGET', base .. 'records', id)
if not text then return 0 end
redis.call('HDEL', base .. 'records', id)
redis.call('ZREM', base .. 'names', cjson.decode(text).account .. ' ' .. id)
redis.call('DEL', base .. 'bucket:' .. id)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
