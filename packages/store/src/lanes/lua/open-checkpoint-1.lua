-- Begins a run of a dispatch job: from now on earlier runs are refused; what they settled is returned.
-- KEYS[1] the shard's prefix
-- ARGV    job, fence
-- Returns 1 where a later run has been here (nothing is changed) else 0, the checkpoint's fields and values
-- @include when-full
local base = KEYS[1]
run_when_full(base)
local key, fence = base .. 'ck:' .. ARGV[1], tonumber(ARGV[2])
if (tonumber(redis.call('HGET', key, 'f')) or 0) > fence then return { 1, {} } end
redis.call('HSET', key, 'f', fence)
redis.call('PEXPIRE', key, 86400000)
return { 0, redis.call('HGETALL', key) }
