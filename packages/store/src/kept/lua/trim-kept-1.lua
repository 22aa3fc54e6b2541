-- Removes the messages of a ring that are too old or exceed its bytes, and more until `to_free` bytes are free. The
-- ring of a topic that is gone or keeps no messages is removed completely. Also removes jobs that were dropped.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg to_free: number, bytes
-- Returns the number of messages removed, that of bytes freed, and 1 if dropped jobs may be left, else 0.
-- @include now
-- @include when-full
-- @include kept-jobs
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring then
  local filled = tonumber(redis.call('HGET', base .. 'kept', uid .. ' ' .. arn)) or 0
  drop_ring(base, arn, uid)
  return { 0, filled, redis.call('SISMEMBER', base .. 'kept:whole', uid .. ' ' .. arn) }
end
local removed, freed = trim_ring(ring, now_ms(base), to_free)
return { removed, freed, delete_dropped_jobs(base, uid) and 1 or 0 }
