-- Discards what waits in a lane; what is in flight goes on.
-- KEYS[1] the shard's prefix
-- ARGV    subscription, deliveries max
-- Returns how many were discarded, how many wait still
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-body
-- @include lane-count
-- @include lane-discard
local base, id = KEYS[1], ARGV[1]
run_when_full(base)
local removed = discard_waiting(base, id, tonumber(ARGV[2]), 'discarded:purged')
lane_next(base, id, now_ms(base))
write_drops(base)
write_counts(base)
return { removed, redis.call('ZCARD', base .. 'fresh:' .. id) + redis.call('ZCARD', base .. 'retry:' .. id) }
