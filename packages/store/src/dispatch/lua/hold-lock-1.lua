-- Takes the lock of a dispatch job again for the start that had it, unless somebody has it, the job was started again
-- since, or is gone. Another job may have its number where Redis has lost its last moments, and be started as often.
-- @key job: hash of the job, which is BullMQ's
-- @arg start: digits, number of the start
-- @arg added_at: digits, ms
-- @arg token: text, of the start
-- @arg lock_ms: digits
-- Returns 1 where the lock is this start's now, else 0
-- @include when-full
run_when_full(job)
local lock = job .. ':lock'
local started, added = unpack(redis.call('HMGET', job, JOB.starts, JOB.addedAt))
if started == start and added == added_at then redis.call('SET', lock, token, 'PX', lock_ms, 'NX') end
return redis.call('GET', lock) == token and 1 or 0
