-- Stores the pair that messages are signed with, if there is none yet. Runs when memory is full too: without the pair,
-- waiting messages could not leave it.
-- @key base: of signing
-- @arg offered: text, kept if there is none yet
-- Returns the pair that is valid now
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'pair', offered, 'NX')
return redis.call('GET', base .. 'pair')
