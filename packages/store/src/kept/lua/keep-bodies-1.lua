-- Stores bodies of messages in a topic's ring when memory is full, because a topic with an archive loses no message.
-- keep-messages adds the messages afterwards.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @rest bodies: id and body of each
-- Returns nothing.
-- @include when-full
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring or not ring.archive then return end
for at = bodies_at, #ARGV, 2 do redis.call('HSET', ring.bodies, ARGV[at], ARGV[at + 1]) end
