-- Deletes an endpoint of a platform application, if its record is still as the caller read it. It runs also when memory
-- is full.
-- @key base: of the application's shard
-- @arg app: text, the application's ARN
-- @arg id: text
-- @arg expected: text, the record as read
-- @arg digest: text, of its token
-- Returns 1 if done, 0 if it has changed meanwhile
-- @include when-full
run_when_full(base)
local devices = base .. 'devices:' .. app
if redis.call('HGET', devices, id) ~= expected then return 0 end
redis.call('HDEL', devices, id)
redis.call('HDEL', base .. 'devicetokens:' .. app, digest)
redis.call('ZREM', base .. 'deviceids:' .. app, id)
return 1
