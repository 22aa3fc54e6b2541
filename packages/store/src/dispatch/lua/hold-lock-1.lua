-- Takes the lock of a dispatch job again for the start that had it, unless somebody has it, the job was started again
-- since, or is gone. Another job may have its number where Redis has lost its last moments, and be started as often.
-- KEYS[1] the job's hash, which is BullMQ's
-- ARGV    number of the start, when the job was added (ms), the start's token, ms that the lock lasts
-- Returns 1 where the lock is this start's now, else 0
-- @include when-full
run_when_full(KEYS[1])
local lock = KEYS[1] .. ':lock'
local started, added = unpack(redis.call('HMGET', KEYS[1], 'ats', 'timestamp'))
if started == ARGV[1] and added == ARGV[2] then redis.call('SET', lock, ARGV[3], 'PX', ARGV[4], 'NX') end
return redis.call('GET', lock) == ARGV[3] and 1 or 0
