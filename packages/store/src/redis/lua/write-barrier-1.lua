-- Writes an empty key. A WAIT after it covers every write before it. It runs also when memory is full.
-- @key barrier: the key
-- Returns nothing
-- @include when-full
run_when_full(barrier)
redis.call('SET', barrier, '', 'EX', 60)
