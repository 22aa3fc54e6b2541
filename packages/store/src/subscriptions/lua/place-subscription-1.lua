-- Stores a subscription in a slice of another shard, after create-subscription has taken its place. It refuses if the
-- place may have been given up meanwhile. This is so if the place was removed within the last minute, or taken so long
-- ago that the removal is forgotten.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg shard: digits
-- @arg id: text
-- @arg valid_until: number, ms
-- @arg arn: text
-- @arg topic_record: text
-- @arg topic_version: text
-- @arg topic_rate: text
-- @arg topic_retention: text
-- @arg topic_overrides: text
-- @arg revision: text
-- @arg open: text, record up to where the bit follows
-- @arg status: text, that it is counted under
-- @arg rate: text, own, or '', or of its kind behind '='
-- @arg max_in_flight: digits
-- @arg has_dlq: text, '1' or ''
-- @arg expires: text, when its token expires, ms, or ''
-- @arg mode: text, retry mode and circuit breaker, or ''
-- @arg group_rates: text, rates of message groups (group-rate.lua), or ''
-- @arg floor: digits, seconds that it keeps deliveries at least
-- Returns: {'late'} | {'gone'} | {'present' | 'placed', record}
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include slice-subscriptions
-- @include when-full
run_when_full(base)
local now = now_ms(base)
if now > valid_until then return {'late'} end
if redis.call('EXISTS', base .. 'tombstone:' .. id, base .. 'tombstone:' .. slice) > 0 then return {'gone'} end
local present = redis.call('HGET', base .. 'subs:' .. slice, id)
if present then return {'present', present} end
local before = first_due(base)
local settings = {
  record = topic_record, version = topic_version, rate = topic_rate, retention = topic_retention,
  overrides = topic_overrides,
}
set_slice_topic(base, slice, arn, settings, revision, now)
local new = {
  open = open, status = status, rate = rate, max_in_flight = max_in_flight, has_dlq = has_dlq,
  expires = expires, mode = mode, group_rates = group_rates, floor = floor,
}
local record = place_subscription(base, slice, id, new, revision, now)
wake_if_earlier(base, shard, before, now, first_unproven)
return {'placed', record}
