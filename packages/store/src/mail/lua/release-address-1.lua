-- Removes an address from the suppression list. It runs also when memory is full.
-- @key base: of mail
-- @arg address: text
-- Returns 1 if it was there, else 0
-- @include when-full
run_when_full(base)
redis.call('ZREM', base .. 'suppressed', address)
return redis.call('HDEL', base .. 'suppressions', address)
