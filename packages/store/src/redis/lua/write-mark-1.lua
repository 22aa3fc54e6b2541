-- Writes an empty key. A WAIT after it covers every write before it. It runs also when memory is full.
-- @key mark: the key
-- Returns nothing
-- @include when-full
run_when_full(mark)
redis.call('SET', mark, '', 'EX', 60)
