-- Puts the copy of an outcome log, without the entries of a customer, in the log's place. The copy lies under
-- `<stream>:kept`.
-- @key stream
-- @arg last: text, id of the last bundle that was copied
-- Returns 1, or 0 if the log has newer bundles, which must be copied first
-- @include when-full
run_when_full(stream)
local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if newest and newest[1] ~= last then return 0 end
if redis.call('EXISTS', stream .. ':kept') == 1 then redis.call('RENAME', stream .. ':kept', stream) end
return 1
