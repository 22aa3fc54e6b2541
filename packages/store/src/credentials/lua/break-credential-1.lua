-- Records that a credential was refused or is missing. From now on, only probes may use it.
-- @key base: of credentials
-- @arg name: text
-- @arg detail: text, the error for operators, without secrets
-- @arg probe_every_ms: number
-- @arg kept_ms: number, how long the record of a broken credential is kept
-- Returns 1 if the credential had no record, else 0
-- @include when-full
-- @include now
run_when_full(base)
local key, now = base .. 'broken:' .. name, now_ms(base)
local is_new = redis.call('HSETNX', key, CREDENTIAL.since, string.format('%.0f', now))
redis.call('HSET', key, CREDENTIAL.probeAt, string.format('%.0f', now + probe_every_ms), CREDENTIAL.detail, detail)
redis.call('PEXPIRE', key, string.format('%.0f', kept_ms))
return is_new
