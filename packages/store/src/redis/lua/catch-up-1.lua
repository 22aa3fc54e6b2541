-- Corrects the shard's time if Redis's clock was set back. From now on the shard uses the time that a worker knows. If
-- another worker has already done that, nothing changes.
-- @key base: of the shard
-- @arg known_ms: number?, epoch ms that a worker knows
-- @arg behind_ms_max: number, by which the shard's time may be behind that
-- @arg ahead_ms: number?, ms by which another shard of this clock is ahead of it. Workers know one time for all of
--   them, so this one is ahead by as much
-- Returns ms that were made up for, ms by which the shard is ahead of the clock now
-- @include when-full
-- @include now
run_when_full(base)
local now = now_ms(base)
local behind = ahead_ms and ahead_ms - clock_ahead or known_ms - now
if behind <= behind_ms_max then return { 0, clock_ahead } end
redis.call('SET', base .. 'ahead', string.format('%.0f', clock_ahead + behind))
return { behind, clock_ahead + behind }
