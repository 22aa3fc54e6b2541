-- Keeps a certificate under its name, for whoever serves them; in a full memory too, as keep-signing-pair does.
-- KEYS[1] base of signing
-- ARGV    name, certificate
-- Returns 1 where it was not there yet, else 0
-- @include when-full
local base = KEYS[1]
run_when_full(base)
return redis.call('HSET', base .. 'certificates', ARGV[1], ARGV[2])
