-- Gives an existing slice the topic's settings of this version, unless it has newer ones.
-- KEYS: base of the slice's shard
-- ARGV: slice id, shard number, ARN, topic record, its version, throttle, retention seconds, '1' where overrides are
--       disabled, revision
-- Returns: 1, or 0 where there is no such slice
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
local base = KEYS[1]
run_when_full(base)
if redis.call('EXISTS', base .. 'slice:' .. ARGV[1]) == 0 then return 0 end
local now, before = now_ms(base), first_due(base)
local settings = { record = ARGV[4], v = ARGV[5], rate = ARGV[6], ret = ARGV[7], ovr = ARGV[8] }
set_slice_topic(base, ARGV[1], ARGV[3], settings, ARGV[9], now)
wake_if_earlier(base, ARGV[2], before, now, first_turn)
return 1
