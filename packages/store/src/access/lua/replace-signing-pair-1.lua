-- Replaces the pair that messages are signed with where it still is the one that the caller has read; in a full memory
-- too, as keep-signing-pair does.
-- KEYS[1] base of signing
-- ARGV    pair as read, new pair
-- Returns 1, or 0 where it is another by now
-- @include when-full
local base = KEYS[1]
run_when_full(base)
if redis.call('GET', base .. 'pair') ~= ARGV[1] then return 0 end
redis.call('SET', base .. 'pair', ARGV[2])
return 1
