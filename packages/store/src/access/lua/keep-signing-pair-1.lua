-- Keeps the pair that messages are signed with, if there is none yet. Whoever signs needs it, so it is kept in a full
-- memory too: what waits could else not leave it.
-- @key base: of signing
-- @arg offered: text, kept if there is none yet
-- Returns the pair that holds
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'pair', offered, 'NX')
return redis.call('GET', base .. 'pair')
