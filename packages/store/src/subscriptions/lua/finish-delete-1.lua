-- Ends a deletion that spans two shards. The call that removes the note frees the place.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text, the topic's
-- @arg slice_number: number
-- @arg note: text
-- @arg raw_id: text, 16 bytes
-- @arg endpoint_hash: text, SHA-1 of the endpoint that it had at the end, or ''
-- @arg token_hash: text, SHA-1 of the token that it had at the end, or ''
-- @arg revision: text
-- Returns: 1 if this call removed the note, else 0
-- @include when-full
-- @include topic-slices
local key, endpoints = base .. 'topic:' .. arn, base .. 'endpoints:' .. uid
run_when_full(base)
local ended = redis.call('ZREM', base .. 'unfinished', note)
if ended == 1 then release_place(key, uid, slice_number, true) end
if redis.call('HGET', endpoints, endpoint_hash) == raw_id then redis.call('HDEL', endpoints, endpoint_hash) end
if token_hash ~= '' then redis.call('HDEL', base .. 'tokens:' .. uid, token_hash) end
touch_topic(key, uid, arn, revision)
return ended
