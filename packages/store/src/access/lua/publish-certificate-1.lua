-- Keeps a certificate under its name, for whoever serves them; in a full memory too, as keep-signing-pair does.
-- @key base: of signing
-- @arg name: text
-- @arg certificate: text
-- Returns 1 where it was not there yet, else 0
-- @include when-full
run_when_full(base)
return redis.call('HSET', base .. 'certificates', name, certificate)
