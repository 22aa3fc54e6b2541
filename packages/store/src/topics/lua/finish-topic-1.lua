-- Ends a change of a topic's record once every slice has it; the mark of a newer change is left standing.
-- KEYS: base of the topic's home shard
-- ARGV: ARN, uid, version, revision
-- Returns: 1 where the mark was taken off, else 0
-- @include when-full
-- @include topic-slices
local base, arn = KEYS[1], ARGV[1]
local key = base .. 'topic:' .. arn
run_when_full(base)
local topic, ended = read_topic(key), 0
if not topic or (topic.uid == ARGV[2] and topic.v == ARGV[3]) then
  ended = redis.call('ZREM', base .. 'unfinished', 'topic|' .. arn)
end
touch_topic(key, ARGV[2], arn, ARGV[4])
return ended
