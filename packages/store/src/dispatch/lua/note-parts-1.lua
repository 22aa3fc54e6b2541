-- Notes in a dispatch job which parts it is cut into, unless it was started again since, or is gone.
-- KEYS[1] the job's hash, which is BullMQ's
-- ARGV    number of the start that cuts it, the parts
-- Returns 1 noted, 0 not
-- @include when-full
run_when_full(KEYS[1])
if redis.call('HGET', KEYS[1], 'ats') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'parts', ARGV[2])
return 1
