-- Replaces the pair that messages are signed with where it still is the one that the caller has read; in a full memory
-- too, as keep-signing-pair does.
-- @key base: of signing
-- @arg expected: text, pair as read
-- @arg pair: text
-- Returns 1, or 0 where it is another by now
-- @include when-full
run_when_full(base)
if redis.call('GET', base .. 'pair') ~= expected then return 0 end
redis.call('SET', base .. 'pair', pair)
return 1
