-- Before and after a change of a subscription in another shard: marks the topic as changed, and keeps the entry of the
-- subscription's token (the new one is there before the record has it, the old one until the record has lost it).
-- KEYS: base of the topic's home shard
-- ARGV: ARN, uid, revision, id (16 bytes), SHA-1 of a token to remove or '', of one to add or ''
-- Returns: 1, or 0 where the topic is gone
-- @include when-full
-- @include topic-slices
-- @include topic-tokens
local base, arn, uid = KEYS[1], ARGV[1], ARGV[2]
local key = base .. 'topic:' .. arn
run_when_full(base)
if redis.call('HGET', key, 'uid') ~= uid then return 0 end
set_token(base, uid, ARGV[4], ARGV[5], ARGV[6])
touch_topic(key, uid, arn, ARGV[3])
return 1
