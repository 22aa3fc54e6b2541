-- A write without meaning, allowed in a full memory too: a WAIT behind it covers every write that came before it.
-- KEYS[1] the mark
-- ARGV    none
-- Returns nothing
-- @include when-full
run_when_full(KEYS[1])
redis.call('SET', KEYS[1], '', 'EX', 60)
