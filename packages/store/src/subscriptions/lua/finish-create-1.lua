-- Ends a creation that spans two shards: the subscription is stored ('1'), or its place is given up.
-- KEYS: base of the topic's home shard
-- ARGV: ARN, uid, slice number, mark, SHA-1 of the endpoint, id (16 bytes), '1' or '0', SHA-1 of the token or '',
--       revision
-- Returns: 1 where the mark was taken off, else 0
-- @include when-full
-- @include topic-slices
local base, arn, uid = KEYS[1], ARGV[1], ARGV[2]
local key = base .. 'topic:' .. arn
run_when_full(base)
local ends = base .. 'ends:' .. uid
local ended = redis.call('ZREM', base .. 'unfinished', ARGV[4])
local holds = redis.call('HGET', ends, ARGV[5]) == ARGV[6]
if ARGV[7] == '0' and ended == 1 and holds then
  redis.call('HDEL', ends, ARGV[5])
  release_place(key, uid, tonumber(ARGV[3]))
end
if ARGV[7] == '1' and ARGV[8] ~= '' and holds then redis.call('HSET', base .. 'tokens:' .. uid, ARGV[8], ARGV[6]) end
touch_topic(key, uid, arn, ARGV[9])
return ended
