-- Takes tokens from a bucket, which fills at its rate and holds a second's worth (GCRA). It runs also when memory is
-- full. Otherwise callers would be refused, or let through without a limit.
-- @key base: of API keys, or of mail
-- @arg id: text
-- @arg rate: number, tokens a second
-- @arg wanted: number, tokens
-- Returns tokens given, ms until there is one more
-- @include now
-- @include when-full
run_when_full(base)
local key, now, token_ms = base .. 'bucket:' .. id, now_ms(base), 1000 / rate
local tat = math.max(tonumber(redis.call('GET', key) or 0), now)
-- A jump of the clock may have left this time far in the future. Everything would be refused until then.
if tat > now + 2000 then tat = now end
local given = math.max(0, math.min(wanted, math.floor((now + 1000 - tat) / token_ms + 1e-6)))
tat = tat + given * token_ms
if given > 0 then redis.call('SET', key, string.format('%.17g', tat), 'PX', 2000) end
return { given, math.max(0, math.ceil(tat + token_ms - 1000 - now)) }
