-- Takes a role, if no process has it.
-- @key role: the role's key
-- @arg for_ms: digits
-- Returns 1 if it was taken, else 0
-- @include when-full
run_when_full(role)
return redis.call('SET', role, '1', 'PX', for_ms, 'NX') and 1 or 0
