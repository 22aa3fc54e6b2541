-- Stores a new API key and announces it.
-- @key base: of API keys
-- @arg id: text
-- @arg account: text
-- @arg record: text
-- @arg keys_max: number
-- Returns 1, or 0 if the id is taken, 2 if there are too many
if redis.call('HEXISTS', base .. 'records', id) == 1 then return 0 end
if redis.call('HLEN', base .. 'records') >= keys_max then return 2 end
redis.call('HSET', base .. 'records', id, record)
redis.call('ZADD', base .. 'names', 0, account .. ' ' .. id)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
