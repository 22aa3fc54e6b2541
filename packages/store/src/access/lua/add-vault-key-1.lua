-- Records that a master key may seal secrets from now on. It runs also when memory is full, because the signing key is
-- sealed at such times too. Without that key, waiting messages could not be delivered.
-- @key base: of the vault
-- @arg key_id: text
-- Returns 1 if it was not noted yet, else 0
-- @include when-full
run_when_full(base)
return redis.call('SADD', base .. 'keys', key_id)
