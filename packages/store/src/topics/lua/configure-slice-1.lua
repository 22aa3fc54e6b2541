-- Gives an existing slice the topic's settings of this version, unless it has newer ones.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg shard: digits
-- @arg arn: text
-- @arg record: text, the topic's
-- @arg version: text, of the record
-- @arg rate: text, '' for none
-- @arg retention: text, seconds
-- @arg overrides: text, '1' if subscriptions' overrides are disabled, else ''
-- @arg revision: text
-- Returns: 1, or 0 if there is no such slice
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
run_when_full(base)
if redis.call('EXISTS', base .. 'slice:' .. slice) == 0 then return 0 end
local now, before = now_ms(base), first_due(base)
local settings = {
  record = record, version = version, rate = rate, retention = retention, overrides = overrides,
}
set_slice_topic(base, slice, arn, settings, revision, now)
wake_if_earlier(base, shard, before, now, first_unproven)
return 1
