-- Removes a subscription from a slice of another shard than its topic's, and for a minute refuses to place it again.
-- KEYS: base of the slice's shard
-- ARGV: slice id, shard number, id, revision
-- Returns: its token or '', nil where it was already gone
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
local base = KEYS[1]
run_when_full(base)
local now, before = now_ms(base), first_due(base)
redis.call('SET', base .. 'gone:' .. ARGV[3], '1', 'PX', 60000)
local removed = remove_subscription(base, ARGV[1], ARGV[3], ARGV[4], now)
wake_if_earlier(base, ARGV[2], before, now, first_turn)
return removed and (removed.k or '')
