-- Keeps the pair that messages are signed with, if there is none yet. Whoever signs needs it, so it is kept in a full
-- memory too: what waits could else not leave it.
-- KEYS[1] base of signing
-- ARGV    the pair
-- Returns the pair that holds
-- @include when-full
local base = KEYS[1]
run_when_full(base)
redis.call('SET', base .. 'pair', ARGV[1], 'NX')
return redis.call('GET', base .. 'pair')
