-- Removes a subscription whose slice is in its topic's home shard. For one elsewhere it frees the endpoint and leaves
-- a mark; the caller then removes it (remove-subscription) and calls finish-delete. From the mark on the deletion
-- cannot be taken back: a new subscription may have the endpoint.
-- KEYS: base of the topic's home shard
-- ARGV: ARN, shard number, uid, slice number, id, id (16 bytes), SHA-1 of the endpoint, SHA-1 of the token or '',
--       revision, number of shards, mark
-- Returns: 'absent' | 'deleted' | 'begun'
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
-- @include topic-slices
-- @include id-bytes
local base, arn, uid, number = KEYS[1], ARGV[1], ARGV[3], tonumber(ARGV[4])
local key, ends = base .. 'topic:' .. arn, base .. 'ends:' .. uid
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local holds = redis.call('HGET', ends, ARGV[7]) == ARGV[6]
local here = number % tonumber(ARGV[10]) == 0
local removed = here and remove_subscription(base, uid .. '.' .. number, ARGV[5], ARGV[9], now)
if here and not removed then return 'absent' end
if not here then
  if not holds then return redis.call('ZSCORE', base .. 'unfinished', ARGV[11]) and 'begun' or 'absent' end
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), ARGV[11])
end
if holds then redis.call('HDEL', ends, ARGV[7]) end
if ARGV[8] ~= '' then redis.call('HDEL', base .. 'tokens:' .. uid, ARGV[8]) end
-- It may have got another token since the caller read it.
if removed and removed.k then redis.call('HDEL', base .. 'tokens:' .. uid, hex_bytes(redis.sha1hex(removed.k))) end
if here then release_place(key, uid, number, true) end
touch_topic(key, uid, arn, ARGV[9])
wake_if_earlier(base, ARGV[2], before, now, first_turn)
return here and 'deleted' or 'begun'
