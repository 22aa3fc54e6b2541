-- Asks whether an attempt may use a credential. A broken one lets one attempt through in probe_every_ms.
-- @key base: of credentials
-- @arg name: text
-- @arg probe_every_ms: number
-- @arg kept_ms: number, that what is known of it is kept
-- Returns -1 if nothing is known against it, 0 if the attempt is its probe, else ms until the next one
-- @include when-full
-- @include now
run_when_full(base)
local key = base .. 'broken:' .. name
local probe_at = tonumber(redis.call('HGET', key, CREDENTIAL.probeAt))
if not probe_at then return -1 end
local now = now_ms(base)
local wait = probe_at - now
-- One that lies further ahead was written before the clock was set back.
if wait > 0 and wait <= probe_every_ms then return math.ceil(wait) end
redis.call('HSET', key, CREDENTIAL.probeAt, string.format('%.0f', now + probe_every_ms))
redis.call('PEXPIRE', key, string.format('%.0f', kept_ms))
return 0
