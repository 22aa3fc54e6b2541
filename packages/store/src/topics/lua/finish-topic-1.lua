-- Ends a change of a topic's record when every slice has it. The note of a newer change stays.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg version: text
-- @arg revision: text
-- Returns: 1 if the note was taken off, else 0
-- @include when-full
-- @include topic-slices
local key = base .. 'topic:' .. arn
run_when_full(base)
local topic, ended = read_topic(key), 0
if not topic or (topic.uid == uid and topic.version == version) then
  ended = redis.call('ZREM', base .. 'unfinished', 'topic|' .. arn)
end
touch_topic(key, uid, arn, revision)
return ended
