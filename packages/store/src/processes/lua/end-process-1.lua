-- Removes a process that stops.
-- @key base: of the processes
-- @arg id: text
-- Returns 1 if it was there, else 0
-- @include when-full
run_when_full(base)
redis.call('ZREM', base .. 'seen', id)
return redis.call('HDEL', base .. 'records', id)
