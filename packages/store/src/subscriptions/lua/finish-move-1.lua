-- Ends a move that spans two shards. It frees the endpoint that the subscription does not have.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text, the topic's
-- @arg free_hash: text, SHA-1 of the endpoint to free, or ''
-- @arg raw_id: text, 16 bytes
-- @arg note: text
-- @arg remove_token: text, SHA-1 or ''
-- @arg revision: text
-- Returns: 1 if this call removed the note, else 0
-- @include when-full
-- @include topic-slices
-- @include topic-tokens
local endpoints = base .. 'endpoints:' .. uid
run_when_full(base)
local ended = redis.call('ZREM', base .. 'unfinished', note)
if redis.call('HGET', endpoints, free_hash) == raw_id then redis.call('HDEL', endpoints, free_hash) end
set_token(base, uid, raw_id, remove_token, '')
touch_topic(base .. 'topic:' .. arn, uid, arn, revision)
return ended
