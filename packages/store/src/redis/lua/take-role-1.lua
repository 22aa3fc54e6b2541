-- Takes a role that one process at a time has, where nobody has it.
-- KEYS[1] the role's key
-- ARGV    ms that the role is kept
-- Returns 1 where it was taken, else 0
-- @include when-full
run_when_full(KEYS[1])
return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX') and 1 or 0
