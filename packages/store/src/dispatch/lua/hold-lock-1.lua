-- Takes the lock of a dispatch job again for its start. Refused if another process has the lock, the job was started
-- again since, or is gone. After Redis has lost its latest writes, another job may have the same number and as many
-- starts; the token and the time distinguish them. A token is the worker's id, ':' and a number.
-- @key job: hash of the job, which is BullMQ's
-- @arg start: digits, number of the start
-- @arg added_at: digits, ms
-- @arg token: text, of the start
-- @arg lock_ms: digits
-- Returns 1 if this start has the lock now, 2 if the job's next start has it in the same worker, else 0
-- @include when-full
run_when_full(job)
local lock = job .. ':lock'
local started, added = unpack(redis.call('HMGET', job, JOB.starts, JOB.addedAt))
if started == start and added == added_at then redis.call('SET', lock, token, 'PX', lock_ms, 'NX') end
local holder = redis.call('GET', lock)
if holder == token then
  redis.call('PEXPIRE', lock, lock_ms)
  return 1
end
local is_next = tonumber(started or 0) == tonumber(start) + 1 and added == added_at
local worker = string.match(token, '^.*:') or token
return is_next and holder and string.sub(holder, 1, #worker) == worker and 2 or 0
