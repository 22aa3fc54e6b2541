-- Claims a running bulk task that no process works on, under a lease. The fence makes earlier claims stale.
-- @key base: of bulk tasks
-- @arg lease_ms: number
-- Returns false if there is none, or a list: id, fence
-- @include now
-- @include when-full
run_when_full(base)
local running, now = base .. 'running', now_ms(base)
-- Leases end soon. One that lies further ahead was given before the clock was set back.
local end_max = string.format('%.0f', now + 2 * lease_ms)
local found = redis.call('ZRANGEBYSCORE', running, '-inf', string.format('%.0f', now), 'LIMIT', 0, 1)
if #found == 0 then found = redis.call('ZRANGEBYSCORE', running, end_max, '+inf', 'LIMIT', 0, 1) end
local id = found[1]
if not id then return false end
if redis.call('EXISTS', base .. 'task:' .. id) == 0 then
  redis.call('ZREM', running, id)
  return false
end
redis.call('ZADD', running, string.format('%.0f', now + lease_ms), id)
return { id, redis.call('HINCRBY', base .. 'task:' .. id, BULK.fence, 1) }
