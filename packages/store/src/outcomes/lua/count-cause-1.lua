-- Counts a message or delivery that was never in a lane, so no other script counts it.
-- @key base: of the shard
-- @arg cause: text
-- Returns nothing
-- @include when-full
run_when_full(base)
redis.call('HINCRBY', base .. 'counts', cause, 1)
