-- Creates a platform application, or replaces its record if that is still as the caller read it.
-- @key base: of the application's shard
-- @arg app: text, its ARN
-- @arg expected: text, the record as read, '' if there was none
-- @arg record: text, JSON
-- Returns 1 if done, 0 if it has changed meanwhile
local key = base .. 'app:' .. app
if (redis.call('GET', key) or '') ~= expected then return 0 end
redis.call('SET', key, record)
redis.call('ZADD', base .. 'apps', 0, app)
return 1
