-- Makes up for a clock of Redis that was set back: from now on the shard's time is what a worker knows it to be. Nothing
-- happens where somebody has done that already.
-- KEYS[1] the shard's prefix
-- ARGV    epoch ms, ms by which the shard's time may be behind that
-- Returns ms that were made up for
-- @include when-full
-- @include now
local base = KEYS[1]
run_when_full(base)
local behind = tonumber(ARGV[1]) - now_ms(base)
if behind <= tonumber(ARGV[2]) then return 0 end
redis.call('SET', base .. 'ahead', string.format('%.0f', clock_ahead + behind))
return behind
