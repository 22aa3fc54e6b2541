-- Runs before and after a change of a subscription in another shard. It gives the topic a new revision, and updates the
-- index of tokens. The new token is added before the record has it, and the old one is removed after the record has
-- lost it.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg revision: text
-- @arg raw_id: text, 16 bytes
-- @arg remove_token: text, SHA-1 or ''
-- @arg add_token: text, SHA-1 or ''
-- Returns: 1, or 0 if the topic is gone
-- @include when-full
-- @include topic-slices
-- @include topic-tokens
local key = base .. 'topic:' .. arn
run_when_full(base)
if redis.call('HGET', key, TOPIC.uid) ~= uid then return 0 end
set_token(base, uid, raw_id, remove_token, add_token)
touch_topic(key, uid, arn, revision)
return 1
