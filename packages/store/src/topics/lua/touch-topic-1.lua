-- Runs before and after a change of a subscription in another shard. Marks the topic as changed, and maintains the
-- entry of the subscription's token: the new one is added before the record has it, the old one removed after the
-- record has lost it.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg revision: text
-- @arg raw_id: text, 16 bytes
-- @arg remove_token: text, SHA-1 or ''
-- @arg add_token: text, SHA-1 or ''
-- Returns: 1, or 0 where the topic is gone
-- @include when-full
-- @include topic-slices
-- @include topic-tokens
local key = base .. 'topic:' .. arn
run_when_full(base)
if redis.call('HGET', key, TOPIC.uid) ~= uid then return 0 end
set_token(base, uid, raw_id, remove_token, add_token)
touch_topic(key, uid, arn, revision)
return 1
