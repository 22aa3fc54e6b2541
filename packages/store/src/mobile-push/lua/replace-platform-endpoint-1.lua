-- Replaces an endpoint's record, if it is still as the caller read it. The token must stay the same. It runs also when
-- memory is full.
-- @key base: of the application's shard
-- @arg app: text, the application's ARN
-- @arg id: text
-- @arg expected: text, the record as read
-- @arg record: text, JSON
-- Returns 1 if done, 0 if it has changed meanwhile
-- @include when-full
run_when_full(base)
local devices = base .. 'devices:' .. app
if redis.call('HGET', devices, id) ~= expected then return 0 end
redis.call('HSET', devices, id, record)
return 1
