-- Begins a run of a dispatch job. Earlier runs are refused from now on. Returns which deliveries they settled.
-- @key base: of the shard
-- @arg job: text
-- @arg fence: number
-- Returns 1 if a later run has begun (then nothing is changed), else 0; then the fields and values of the checkpoint
-- @include when-full
run_when_full(base)
local key = base .. 'ck:' .. job
if (tonumber(redis.call('HGET', key, CHECKPOINT.fence)) or 0) > fence then return { 1, {} } end
redis.call('HSET', key, CHECKPOINT.fence, fence)
redis.call('PEXPIRE', key, 86400000)
return { 0, redis.call('HGETALL', key) }
