-- Replaces an API key's record if it is still as the caller read it. A record that does not grow is replaced even when
-- memory is full.
-- @key base: of API keys
-- @arg id: text
-- @arg expected: text, record as read
-- @arg record: text
-- Returns 1, or 0 if it was revoked or changed meanwhile
-- @include when-full
if #record <= #expected then run_when_full(base) end
local records = base .. 'records'
if redis.call('HGET', records, id) ~= expected then return 0 end
redis.call('HSET', records, id, record)
redis.call('PUBLISH', 'ft:wake:changes', id)
return 1
