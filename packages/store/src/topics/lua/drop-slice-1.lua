-- Removes a slice of a deleted topic. `take` discards its lanes.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg shard: digits
-- Returns: subscriptions removed
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local removed = drop_slice(base, slice, now)
wake_if_earlier(base, shard, before, now, first_unproven)
return removed
