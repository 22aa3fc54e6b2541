-- Keeps the key that cursors are sealed with, if there is none yet; in a full memory too, since lists are read then.
-- KEYS[1] base of API keys
-- ARGV    the key
-- Returns the key that holds
-- @include when-full
local base = KEYS[1]
run_when_full(base)
redis.call('SET', base .. 'cursors', ARGV[1], 'NX')
return redis.call('GET', base .. 'cursors')
