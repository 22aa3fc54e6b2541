-- Keeps a new API key and announces it.
-- KEYS[1] base of API keys
-- ARGV    id, account, record, keys at most
-- Returns 1, or 0 where the id is taken, 2 where there are too many
local base, id = KEYS[1], ARGV[1]
if redis.call('HEXISTS', base .. 'records', id) == 1 then return 0 end
if redis.call('HLEN', base .. 'records') >= tonumber(ARGV[4]) then return 2 end
redis.call('HSET', base .. 'records', id, ARGV[3])
redis.call('ZADD', base .. 'names', 0, ARGV[2] .. ' ' .. id)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
