-- Takes an endpoint and a place in a slice for a new subscription. If that slice is in this shard, it stores the
-- subscription. Otherwise the caller stores it (place-subscription) and then calls finish-create; a note remains until
-- then. The id is made of the topic's uid, the slice's number and the given random digits (subscriptions-id.ts).
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg shard: digits
-- @arg endpoint_hash: text, SHA-1 of protocol and endpoint
-- @arg note: text, up to where the id follows
-- @arg digits: text, random, of the id
-- @arg revision: text
-- @arg per_slice: number, subscriptions at most
-- @arg slices_max: number
-- @arg shards: number, how many there are
-- @arg open: text, record up to where the bit follows
-- @arg status: text, that it is counted under
-- @arg rate: text, own, or '', or of its kind behind '='
-- @arg max_in_flight: digits
-- @arg has_dlq: text, '1' or ''
-- @arg expires: text, when its token expires, ms, or ''
-- @arg mode: text, retry mode and circuit breaker, or ''
-- @arg group_rates: text, rates of message groups (group-rate.lua), or ''
-- @arg floor: digits, seconds that it keeps deliveries at least
-- @arg token_hash: text, SHA-1 of the token, or ''
-- @arg valid_until: number?, ms after which it is too late for its quota
-- Returns: {'missing'} | {'full'} | {'late'} | {'created', id, record}
--          | {'taken' (by this id) or 'reserved', id, now, topic record, version, rate, retention, overrides}
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include slice-subscriptions
-- @include topic-slices
-- @include id-bytes
local key = base .. 'topic:' .. arn
local topic, now = read_topic(key), now_ms(base)
if not topic then return {'missing'} end
local endpoints = base .. 'endpoints:' .. topic.uid
local function answer(outcome, raw)
  local settings = { topic.record, topic.version, topic.rate, topic.retention, topic.overrides }
  return {outcome, raw, string.format('%.0f', now), unpack(settings)}
end
local taken = redis.call('HGET', endpoints, endpoint_hash)
if taken then return answer('taken', taken) end
if valid_until and now > valid_until then return {'late'} end
-- A new slice is only opened when the others are full.
local number = take_place(topic, per_slice, slices_max)
if not number then return {'full'} end
redis.call('HSET', key, TOPIC.revision, revision)
local id = subscription_id(topic.uid, number, digits)
local raw = id_bytes(id)
redis.call('HSET', endpoints, endpoint_hash, raw)
if number % shards ~= 0 then
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), note .. id)
  return answer('reserved', raw)
end
local slice, before = topic.uid .. '.' .. number, first_due(base)
set_slice_topic(base, slice, arn, topic, revision, now)
local new = {
  open = open, status = status, rate = rate, max_in_flight = max_in_flight, has_dlq = has_dlq,
  expires = expires, mode = mode, group_rates = group_rates, floor = floor,
}
local record = place_subscription(base, slice, id, new, revision, now)
if token_hash ~= '' then redis.call('HSET', base .. 'tokens:' .. topic.uid, token_hash, raw) end
wake_if_earlier(base, shard, before, now, first_unproven)
redis.call('PUBLISH', 'ft:wake:changes', arn)
return {'created', raw, record}
