-- Whether a creation that has not ended has stored its subscription; if not, it cannot any more.
-- KEYS: base of the slice's shard
-- ARGV: slice id, id
-- Returns: the record, or nil
-- @include when-full
local base = KEYS[1]
run_when_full(base)
local record = redis.call('HGET', base .. 'subs:' .. ARGV[1], ARGV[2])
if not record then redis.call('SET', base .. 'gone:' .. ARGV[2], '1', 'PX', 60000) end
return record
