-- Creates an endpoint of a platform application, or replaces its record if that is still as the caller read it. A token
-- has only one endpoint.
-- @key base: of the application's shard
-- @arg app: text, the application's ARN
-- @arg id: text
-- @arg expected: text, the record as read, '' if there was none
-- @arg record: text, JSON
-- @arg digest: text, of its token
-- @arg digest_before: text, of the token as read
-- @arg endpoints_max: number, of the application
-- Returns 'done', 'changed' since it was read, 'full', 'gone' without the application, or the id of the endpoint that
-- has the token
if redis.call('EXISTS', base .. 'app:' .. app) == 0 then return 'gone' end
local devices, tokens = base .. 'devices:' .. app, base .. 'devicetokens:' .. app
local holder = redis.call('HGET', tokens, digest)
if holder and holder ~= id then return holder end
if (redis.call('HGET', devices, id) or '') ~= expected then return 'changed' end
if expected == '' and redis.call('HLEN', devices) >= endpoints_max then return 'full' end
if digest_before ~= digest then redis.call('HDEL', tokens, digest_before) end
redis.call('HSET', devices, id, record)
redis.call('HSET', tokens, digest, id)
redis.call('ZADD', base .. 'deviceids:' .. app, 0, id)
return 'done'
