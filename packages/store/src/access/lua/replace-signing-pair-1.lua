-- Replaces the signing pair if it is still as the caller read it. It runs also when memory is full, like
-- keep-signing-pair.
-- @key base: of signing
-- @arg expected: text, pair as read
-- @arg pair: text
-- Returns 1, or 0 if it is another by now
-- @include when-full
run_when_full(base)
if redis.call('GET', base .. 'pair') ~= expected then return 0 end
redis.call('SET', base .. 'pair', pair)
return 1
