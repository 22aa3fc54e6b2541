-- Keeps the key that cursors are sealed with, if there is none yet; in a full memory too, since lists are read then.
-- @key base: of API keys
-- @arg offered: text, kept if there is none yet
-- Returns the key that holds
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'cursors', offered, 'NX')
return redis.call('GET', base .. 'cursors')
