-- Whether a creation that has not ended has stored its subscription; if not, it cannot any more.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg id: text
-- Returns: the record, or nil
-- @include when-full
run_when_full(base)
local record = redis.call('HGET', base .. 'subs:' .. slice, id)
if not record then redis.call('SET', base .. 'gone:' .. id, '1', 'PX', 60000) end
return record
