-- Replaces an API key's record where it still is the one that the caller has read.
-- A record that does not grow is replaced even when memory is full.
-- KEYS[1] base of API keys
-- ARGV    id, record as read, new record
-- Returns 1, or 0 where it was revoked or changed meanwhile
-- @include when-full
if #ARGV[3] <= #ARGV[2] then run_when_full(KEYS[1]) end
local records = KEYS[1] .. 'records'
if redis.call('HGET', records, ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', records, ARGV[1], ARGV[3])
redis.call('PUBLISH', 'ft:wake:changes', ARGV[1])
return 1
