-- Counts what no other script counts, because it never was in a lane.
-- @key base: of the shard
-- @arg cause: text
-- Returns nothing
-- @include when-full
run_when_full(base)
redis.call('HINCRBY', base .. 'counts', cause, 1)
