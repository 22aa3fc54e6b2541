-- Removes the messages of a ring that are too old or exceed its bytes, or the given bytes. The ring of a topic that is
-- gone or keeps no messages is removed completely. Also removes jobs that were dropped.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg bytes_max: number?, nil: those of the ring
-- @arg is_short: flag, whether Redis's memory is short
-- Returns the number of messages removed, that of bytes left, and 1 if dropped jobs may be left, else 0.
-- @include now
-- @include when-full
-- @include kept-jobs
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring then
  drop_ring(base, arn, uid)
  return { 0, 0, redis.call('SISMEMBER', base .. 'kept:whole', uid .. ' ' .. arn) }
end
local now = now_ms(base)
local removed = trim_ring(ring, now, math.min(ring.bytes_max, bytes_max or ring.bytes_max))

-- While memory is short, this archive rather loses messages than holds them. The block that is being written keeps its
-- own, because it may be written again.
if ring.drops and is_short and bytes_max then
  local open = redis.call('HGET', ring.archive, ARCHIVE.open)
  ring.behind, ring.removable, ring.age_max = '(' .. (open or ring.removable), '+inf', math.huge
  local dropped = trim_ring(ring, now, bytes_max)
  redis.call('HINCRBY', ring.archive, ARCHIVE.dropped, dropped)
  removed = removed + dropped
end
return { removed, ring.filled, delete_dropped_jobs(base, uid) and 1 or 0 }
