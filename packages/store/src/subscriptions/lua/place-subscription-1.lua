-- Stores a subscription whose place has been taken by create-subscription, in a slice of another shard than that.
-- Refused where the place may have been given up meanwhile: removed within the last minute, or taken too long ago for
-- that to be known.
-- KEYS: base of the slice's shard
-- ARGV: slice id, id, place valid until (ms), ARN, topic record, its version, throttle, retention seconds, overrides,
--       revision, record up to where the slot follows, status, own throttle, max in flight, '1' with a DLQ, token's
--       expiry or '', shard number, mode or '', seconds that it keeps deliveries at least
-- Returns: {'late'} | {'gone'} | {'present' | 'placed', record}
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include slice-subscriptions
-- @include when-full
local base, slice, id = KEYS[1], ARGV[1], ARGV[2]
run_when_full(base)
local now = now_ms(base)
if now > tonumber(ARGV[3]) then return {'late'} end
if redis.call('EXISTS', base .. 'gone:' .. id, base .. 'gone:' .. slice) > 0 then return {'gone'} end
local present = redis.call('HGET', base .. 'subs:' .. slice, id)
if present then return {'present', present} end
local before = first_due(base)
local settings = { record = ARGV[5], v = ARGV[6], rate = ARGV[7], ret = ARGV[8], ovr = ARGV[9] }
set_slice_topic(base, slice, ARGV[4], settings, ARGV[10], now)
local new = {
  open = ARGV[11], status = ARGV[12], r = ARGV[13], c = ARGV[14], q = ARGV[15], expires = ARGV[16], m = ARGV[18],
  l = ARGV[19],
}
local record = place_subscription(base, slice, id, new, ARGV[10], now)
wake_if_earlier(base, ARGV[17], before, now, first_turn)
return {'placed', record}
