-- A slice as of one instant.
-- KEYS: base of the slice's shard
-- ARGV: slice id
-- Returns: {} where there is no such slice | {revision, topic record, id, record, id, record, …}
local base = KEYS[1]
local slice = redis.call('HMGET', base .. 'slice:' .. ARGV[1], 'rev', 'topic')
if not slice[1] or not slice[2] then return {} end
local found = {slice[1], slice[2]}
for _, text in ipairs(redis.call('HGETALL', base .. 'subs:' .. ARGV[1])) do found[#found + 1] = text end
return found
