-- Ends a deletion that spans two shards: whoever takes the mark off gives the place back.
-- KEYS: base of the topic's home shard
-- ARGV: ARN, uid, slice number, mark, revision, SHA-1 of the token that it had at the end or ''
-- Returns: 1 where the mark was taken off, else 0
-- @include when-full
-- @include topic-slices
local base, arn, uid = KEYS[1], ARGV[1], ARGV[2]
local key = base .. 'topic:' .. arn
run_when_full(base)
local ended = redis.call('ZREM', base .. 'unfinished', ARGV[4])
if ended == 1 then release_place(key, uid, tonumber(ARGV[3]), true) end
if ARGV[6] ~= '' then redis.call('HDEL', base .. 'tokens:' .. uid, ARGV[6]) end
touch_topic(key, uid, arn, ARGV[5])
return ended
