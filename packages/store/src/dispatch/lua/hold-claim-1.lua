-- Claims an idempotency key for a publish that is stored, where the key is free.
-- KEYS[1] the key
-- ARGV    value, ms that the key is kept
-- Returns 1 where the key stands for this publish, else 0
-- @include when-full
-- Not the key itself with something behind it: callers choose keys, and that could be another one's.
run_when_full(string.match(KEYS[1], '^[^}]*}:'))
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
