-- Discards the waiting deliveries of a lane. Deliveries in flight continue.
-- @key base: of the shard
-- @arg id: text, of the subscription
-- @arg deliveries_max: number
-- Returns how many were discarded, and how many still wait
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-body
-- @include lane-group
-- @include lane-count
-- @include lane-discard
run_when_full(base)
local now = now_ms(base)
local lane = lane_of(base, id, now)
if lane then redis.call('HSET', base .. 'lane:' .. id, LANE.purgedAt, now) end
local removed = discard_waiting(base, id, deliveries_max, 'discarded:purged', lane and lane.fifo, now)
lane_next(base, id, now, lane)
write_drops(base)
write_counts(base)
return { removed, number_waiting(base, id, lane) }
