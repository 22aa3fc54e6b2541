-- Records that a master key may seal secrets from now on. A value of another type is replaced, because services check
-- these keys when they start. It runs also when memory is full, because the signing key is
-- sealed at such times too. Without that key, waiting messages could not be delivered.
-- @key base: of the vault
-- @arg key_id: text
-- Returns 1 if it was not noted yet, else 0
-- @include when-full
run_when_full(base)
local keys = base .. 'keys'
if redis.call('TYPE', keys).ok ~= 'set' then redis.call('DEL', keys) end
return redis.call('SADD', keys, key_id)
