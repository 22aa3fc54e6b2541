-- Reads a slice with all its subscriptions in one step.
-- @key base: of the slice's shard
-- @arg slice: text
-- Returns: {} if there is no such slice | {revision, topic record, departures, id, record, id, record, …}
local revision, record, departures =
  unpack(redis.call('HMGET', base .. 'slice:' .. slice, SLICE.revision, SLICE.topic, SLICE.departures))
if not revision or not record then return {} end
local found = {revision, record, departures or '0'}
for _, text in ipairs(redis.call('HGETALL', base .. 'subs:' .. slice)) do found[#found + 1] = text end
return found
