-- Stores the key that seals cursors, if there is none yet. It runs also when memory is full, because lists must work
-- then.
-- @key base: of API keys
-- @arg offered: text, kept if there is none yet
-- Returns the key that is valid now
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'cursors', offered, 'NX')
return redis.call('GET', base .. 'cursors')
