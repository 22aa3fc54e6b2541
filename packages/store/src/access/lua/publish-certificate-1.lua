-- Stores a certificate under its name, for the processes that serve certificates. Runs when memory is full too, like
-- keep-signing-pair.
-- @key base: of signing
-- @arg name: text
-- @arg certificate: text
-- Returns 1 if it was not there yet, else 0
-- @include when-full
run_when_full(base)
return redis.call('HSET', base .. 'certificates', name, certificate)
