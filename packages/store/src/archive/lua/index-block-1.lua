-- Adds a block to the index of a topic's archive, and moves the cursor behind its messages. The ring may then lose
-- them. The caller has stored the block before.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg from: text, score
-- @arg to: text, score
-- @arg entry: text, as archive-blocks.ts writes it
-- @arg messages: digits
-- @arg bytes: digits
-- @arg lost: number, messages of the ring whose texts are missing
-- Returns 1, 0 if another archiver has added it, or -1 if it is not in the archive, and its object belongs to nothing.
-- @include now
-- @include when-full
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring or not ring.archive then return -1 end
local index = base .. 'archive:blocks:' .. uid
if ring.removable ~= from or redis.call('HGET', ring.archive, ARCHIVE.open) ~= to then
  local added = redis.call('ZRANGEBYSCORE', index, to, to)[1]
  return added and string.match(added, '^%d+') == from and 0 or -1
end
redis.call('ZADD', index, to, entry)
redis.call('HSET', ring.archive, ARCHIVE.cursor, to)
redis.call('HDEL', ring.archive, ARCHIVE.open)
redis.call('HINCRBY', ring.archive, ARCHIVE.messages, messages)
redis.call('HINCRBY', ring.archive, ARCHIVE.bytes, bytes)
if lost > 0 then redis.call('HINCRBY', ring.archive, ARCHIVE.dropped, lost) end
ring.removable = to
trim_ring(ring, now_ms(base), ring.bytes_max)
return 1
