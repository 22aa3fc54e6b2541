-- Removes an event type from a topic's catalogue, if it is there.
-- @key base: of the topic's home shard
-- @arg arn: text, of the topic
-- @arg uid: text
-- @arg name: text
-- @arg revision: text, of the catalogue
-- Returns: 1 if it was there, else 0
-- @include when-full
local key = base .. 'topic:' .. arn
run_when_full(base)
if redis.call('HGET', key, TOPIC.uid) ~= uid then return 0 end
if redis.call('HDEL', base .. 'types:' .. uid, name) == 0 then return 0 end
redis.call('HSET', key, TOPIC.types, revision)
redis.call('PUBLISH', 'ft:wake:changes', arn)
return 1
