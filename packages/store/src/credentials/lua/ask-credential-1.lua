-- Asks whether an attempt may use a credential. With a broken credential, one attempt in probe_every_ms is allowed: the
-- probe.
-- @key base: of credentials
-- @arg name: text
-- @arg probe_every_ms: number
-- @arg kept_ms: number, how long the record of a broken credential is kept
-- Returns -1 if the credential is not broken, 0 if the attempt is the probe, else ms until the next probe
-- @include when-full
-- @include now
run_when_full(base)
local key = base .. 'broken:' .. name
local probe_at = tonumber(redis.call('HGET', key, CREDENTIAL.probeAt))
if not probe_at then return -1 end
local now = now_ms(base)
local wait = probe_at - now
-- A probe that is further ahead was stored before the clock was set back.
if wait > 0 and wait <= probe_every_ms then return math.ceil(wait) end
redis.call('HSET', key, CREDENTIAL.probeAt, string.format('%.0f', now + probe_every_ms))
redis.call('PEXPIRE', key, string.format('%.0f', kept_ms))
return 0
