-- Stores in a dispatch job the parts that it is cut into. Nothing is stored if the job was started again since, or is
-- gone.
-- @key job: hash of the job, which is BullMQ's
-- @arg start: digits, number of the start that cuts the job
-- @arg parts: text
-- Returns 1 if the parts were stored, else 0
-- @include when-full
run_when_full(job)
if redis.call('HGET', job, JOB.starts) ~= start then return 0 end
redis.call('HSET', job, JOB.parts, parts)
return 1
