-- A write without meaning, allowed in a full memory too: a WAIT behind it covers every write that came before it.
-- @key mark: the key
-- Returns nothing
-- @include when-full
run_when_full(mark)
redis.call('SET', mark, '', 'EX', 60)
