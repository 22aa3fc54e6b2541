-- Makes up for a clock of Redis that was set back: from now on the shard's time is what a worker knows it to be.
-- Nothing happens where somebody has done that already.
-- KEYS[1] the shard's prefix
-- ARGV    epoch ms or '', ms by which the shard's time may be behind that; ms by which another shard of this clock is
--         ahead of it, '' unknown: this one is by as much, as workers know one time for all of them
-- Returns ms that were made up for, ms by which the shard is ahead of the clock now
-- @include when-full
-- @include now
local base = KEYS[1]
run_when_full(base)
local now = now_ms(base)
local behind = ARGV[3] ~= '' and tonumber(ARGV[3]) - clock_ahead or tonumber(ARGV[1]) - now
if behind <= tonumber(ARGV[2]) then return { 0, clock_ahead } end
redis.call('SET', base .. 'ahead', string.format('%.0f', clock_ahead + behind))
return { behind, clock_ahead + behind }
