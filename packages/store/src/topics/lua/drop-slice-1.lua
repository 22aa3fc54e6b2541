-- Removes a slice of a deleted topic; what waits in its lanes is drained by `take`.
-- KEYS: base of the slice's shard
-- ARGV: slice id, shard number
-- Returns: subscriptions removed
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
local base = KEYS[1]
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local removed = drop_slice(base, ARGV[1], now)
wake_if_earlier(base, ARGV[2], before, now, first_turn)
return removed
