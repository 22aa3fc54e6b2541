-- Notes that a master key may seal something from now on; in a full memory too: the key that messages are signed with
-- is sealed there, and what waits could else not leave it.
-- @key base: of the vault
-- @arg key_id: text
-- Returns 1 where it was not noted yet, else 0
-- @include when-full
run_when_full(base)
return redis.call('SADD', base .. 'keys', key_id)
