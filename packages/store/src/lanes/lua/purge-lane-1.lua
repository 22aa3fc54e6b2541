-- Discards what waits in a lane; what is in flight goes on.
-- KEYS[1] the shard's prefix
-- ARGV    subscription, deliveries max
-- Returns how many were discarded, how many wait still
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-body
-- @include lane-group
-- @include lane-count
-- @include lane-discard
local base, id = KEYS[1], ARGV[1]
run_when_full(base)
local now = now_ms(base)
local lane = lane_of(base, id, now)
if lane then redis.call('HSET', base .. 'lane:' .. id, 'u', now) end
local removed = discard_waiting(base, id, tonumber(ARGV[2]), 'discarded:purged', lane and lane.fifo, now)
lane_next(base, id, now, lane)
write_drops(base)
write_counts(base)
return { removed, number_waiting(base, id, lane) }
