-- Claims an idempotency key for a stored publish, if the key is free.
-- @key key: the idempotency key
-- @arg value: text, value to store if the key is free
-- @arg kept_ms: digits
-- Returns 1 if the key has this value now, else 0
-- @include when-full
--
-- run_when_full deletes a key that never exists. Its name begins with the base only, not with the whole key: callers
-- choose keys, so the whole key with an ending could be the key of another caller.
run_when_full(string.match(key, '^[^}]*}:'))
if redis.call('SET', key, value, 'PX', kept_ms, 'NX') then return 1 end
return redis.call('GET', key) == value and 1 or 0
