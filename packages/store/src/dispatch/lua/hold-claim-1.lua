-- Claims an idempotency key for a stored publish, if the key is free.
-- @key key: the idempotency key
-- @arg value: text, value to store if the key is free
-- @arg kept_ms: digits
-- Returns 1 if the key has this value now, else 0
-- @include when-full
-- Not the key itself with something behind it: callers choose keys, and that could be another one's.
run_when_full(string.match(key, '^[^}]*}:'))
if redis.call('SET', key, value, 'PX', kept_ms, 'NX') then return 1 end
return redis.call('GET', key) == value and 1 or 0
