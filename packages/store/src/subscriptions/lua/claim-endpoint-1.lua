-- Takes an endpoint for a subscription of a slice in another shard, before it moves there (move-subscription). The note
-- remains until finish-move.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text, the topic's
-- @arg new_hash: text, SHA-1 of the new endpoint
-- @arg raw_id: text, 16 bytes
-- @arg note: text
-- @arg new_token: text, SHA-1 or ''
-- @arg revision: text
-- Returns: {'missing'} | {'taken', id (16 bytes)} | {'set'}
-- @include now
-- @include topic-slices
-- @include topic-tokens
local key, endpoints = base .. 'topic:' .. arn, base .. 'endpoints:' .. uid
if redis.call('HGET', key, TOPIC.uid) ~= uid then return {'missing'} end
local holder = redis.call('HGET', endpoints, new_hash)
if holder and holder ~= raw_id then return {'taken', holder} end
redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now_ms(base)), note)
redis.call('HSET', endpoints, new_hash, raw_id)
set_token(base, uid, raw_id, '', new_token)
touch_topic(key, uid, arn, revision)
return {'set'}
