-- Removes a subscription from a slice of another shard than its topic's. For a minute it cannot be stored again.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg shard: digits
-- @arg id: text
-- @arg revision: text
-- Returns: its record, nil if it was already gone
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
run_when_full(base)
local now, before = now_ms(base), first_due(base)
redis.call('SET', base .. 'tombstone:' .. id, '1', 'PX', 60000)
local record = redis.call('HGET', base .. 'subs:' .. slice, id)
remove_subscription(base, slice, id, revision, now)
wake_if_earlier(base, shard, before, now, first_unproven)
return record
