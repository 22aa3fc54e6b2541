-- Puts the copy of an outcome log, without the entries of a customer, in the log's place. The copy lies under
-- `<stream>:kept:<copy>`. `<stream>:swapped` names the last copy that took the place. It expires long after any run
-- that began before it.
-- @key stream
-- @arg copy: text, name of the copy, of this run alone
-- @arg before: text, name of the copy that had the place when this one was begun, or ''
-- @arg last: text, id of the last bundle that was copied
-- @arg copied: number, bundles of the copy
-- @arg memory_ms: number, how long the name of the copy is kept
-- Returns 'done', 'newer' (the log has newer bundles, which must be copied first) or 'again' (another run has replaced
-- the log, or the copy has expired)
-- @include when-full
run_when_full(stream)
local kept, swapped = stream .. ':kept:' .. copy, stream .. ':swapped'
if (redis.call('GET', swapped) or '') ~= before or redis.call('XLEN', kept) ~= copied then return 'again' end
local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if newest and newest[1] ~= last then return 'newer' end
redis.call('PERSIST', kept)
redis.call('RENAME', kept, stream)
redis.call('SET', swapped, copy, 'PX', memory_ms)
return 'done'
