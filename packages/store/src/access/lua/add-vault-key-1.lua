-- Notes that a master key may seal something from now on; in a full memory too: the key that messages are signed with
-- is sealed there, and what waits could else not leave it.
-- KEYS[1] base of the vault
-- ARGV    id of the key
-- Returns 1 where it was not noted yet, else 0
-- @include when-full
local base = KEYS[1]
run_when_full(base)
return redis.call('SADD', base .. 'keys', ARGV[1])
