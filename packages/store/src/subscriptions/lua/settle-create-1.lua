-- Finds out whether an unfinished creation has stored its subscription. If not, it cannot store it any more.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg id: text
-- Returns: the record, or nil
-- @include when-full
run_when_full(base)
local record = redis.call('HGET', base .. 'subs:' .. slice, id)
if not record then redis.call('SET', base .. 'tombstone:' .. id, '1', 'PX', 60000) end
return record
