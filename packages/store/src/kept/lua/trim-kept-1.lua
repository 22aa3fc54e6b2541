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
local most = math.min(ring.bytes_max, bytes_max or ring.bytes_max)

-- While memory is short, this archive rather loses messages than holds them.
local drops = ring.drops and is_short and bytes_max
if drops then most, ring.removable, ring.age_max = bytes_max, '+inf', math.huge end
local removed = trim_ring(ring, now_ms(base), most)
if drops then redis.call('HINCRBY', ring.archive, ARCHIVE.dropped, removed) end
return { removed, ring.filled, delete_dropped_jobs(base, uid) and 1 or 0 }
