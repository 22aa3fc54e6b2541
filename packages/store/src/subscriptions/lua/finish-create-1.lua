-- Ends a creation that spans two shards. Either the subscription is stored (`stored`), or its place is given up.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text, the topic's
-- @arg slice_number: number
-- @arg note: text
-- @arg endpoint_hash: text, SHA-1 of protocol and endpoint
-- @arg raw_id: text, 16 bytes
-- @arg stored: flag, else its place is given up
-- @arg token_hash: text, SHA-1 of the token, or ''
-- @arg revision: text
-- Returns: 1 if this call removed the note, else 0
-- @include when-full
-- @include topic-slices
local key = base .. 'topic:' .. arn
run_when_full(base)
local endpoints = base .. 'endpoints:' .. uid
local ended = redis.call('ZREM', base .. 'unfinished', note)
local holds = redis.call('HGET', endpoints, endpoint_hash) == raw_id
if not stored and ended == 1 and holds then
  redis.call('HDEL', endpoints, endpoint_hash)
  release_place(key, uid, slice_number)
end
if stored and token_hash ~= '' and holds then redis.call('HSET', base .. 'tokens:' .. uid, token_hash, raw_id) end
touch_topic(key, uid, arn, revision)
return ended
