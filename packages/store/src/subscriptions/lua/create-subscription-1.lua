-- Takes an endpoint and a place in a slice for a new subscription, and where that slice is in this shard stores the
-- subscription. Else the caller stores it (place-subscription) and then calls finish-create; a mark remains till then.
-- The id is made of the topic's uid, the slice's number and the random digits given (subscriptions-id.ts).
-- KEYS: base of the topic's home shard
-- ARGV: ARN, SHA-1 of the endpoint, the mark up to where the id follows, random digits, revision, subscriptions per
--       slice, slices at most, number of shards, record up to where the slot follows, status, own throttle, max in
--       flight, '1' with a DLQ, token's expiry or '', SHA-1 of the token or '', shard number, mode or '', seconds that
--       it keeps deliveries at least
-- Returns: {'missing'} | {'full'} | {'created', id, record}
--          | {'taken' (by this id) or 'reserved', id, now, topic record, version, throttle, retention, overrides}
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include slice-subscriptions
-- @include topic-slices
-- @include id-bytes
local base, arn = KEYS[1], ARGV[1]
local key = base .. 'topic:' .. arn
local topic, now, rev = read_topic(key), now_ms(base), ARGV[5]
if not topic then return {'missing'} end
local ends = base .. 'ends:' .. topic.uid
local function answer(outcome, raw)
  local settings = { topic.record, topic.v, topic.rate, topic.ret, topic.ovr }
  return {outcome, raw, string.format('%.0f', now), unpack(settings)}
end
local taken = redis.call('HGET', ends, ARGV[2])
if taken then return answer('taken', taken) end
-- Slices are filled before a new one is opened.
local number = take_place(topic, tonumber(ARGV[6]), tonumber(ARGV[7]))
if not number then return {'full'} end
redis.call('HSET', key, 'rev', rev)
local id = subscription_id(topic.uid, number, ARGV[4])
local raw = id_bytes(id)
redis.call('HSET', ends, ARGV[2], raw)
if number % tonumber(ARGV[8]) ~= 0 then
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), ARGV[3] .. id)
  return answer('reserved', raw)
end
local slice, before = topic.uid .. '.' .. number, first_due(base)
set_slice_topic(base, slice, arn, topic, rev, now)
local new = {
  open = ARGV[9], status = ARGV[10], r = ARGV[11], c = ARGV[12], q = ARGV[13], expires = ARGV[14], m = ARGV[17],
  l = ARGV[18],
}
local record = place_subscription(base, slice, id, new, rev, now)
if ARGV[15] ~= '' then redis.call('HSET', base .. 'tokens:' .. topic.uid, ARGV[15], raw) end
wake_if_earlier(base, ARGV[16], before, now, first_turn)
redis.call('PUBLISH', 'ft:wake:changes', arn)
return {'created', raw, record}
