-- Removes the messages of a ring that are too old or exceed its bytes, and more until `to_free` bytes are free. The
-- ring of a topic that is gone or keeps no messages is removed completely.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg to_free: number, bytes
-- Returns the number of messages removed, and of bytes freed.
-- @include now
-- @include when-full
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring then
  local filled = tonumber(redis.call('HGET', base .. 'kept', uid .. ' ' .. arn)) or 0
  drop_ring(base, arn, uid)
  return { 0, filled }
end
return { trim_ring(ring, now_ms(base), to_free) }
