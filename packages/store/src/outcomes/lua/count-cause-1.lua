-- Counts what no other script counts, because it never was in a lane.
-- KEYS[1] the shard's prefix
-- ARGV    what is counted
-- Returns nothing
-- @include when-full
run_when_full(KEYS[1])
redis.call('HINCRBY', KEYS[1] .. 'counts', ARGV[1], 1)
