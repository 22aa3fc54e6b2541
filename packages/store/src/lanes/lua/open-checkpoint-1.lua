-- Begins a run of a dispatch job. Earlier runs are refused from now on. Returns which deliveries they settled, and the
-- fence of the latest of them that has begun.
-- @key base: of the shard
-- @arg job: text
-- @arg fence: number
-- Returns 1 if a later run has begun (then nothing is changed), else 0; then the fields and values of the checkpoint
-- @include when-full
run_when_full(base)
local key = base .. 'checkpoint:' .. job
-- An unreadable checkpoint is deleted. The run then repeats deliveries that were settled, and loses none.
local stored = redis.pcall('HGET', key, CHECKPOINT.fence)
local is_unreadable = type(stored) == 'table' and stored.err ~= nil
if is_unreadable then
  redis.call('DEL', key)
elseif (tonumber(stored) or 0) > fence then
  return { 1, {}, 0 }
end
local fields = redis.call('HGETALL', key)
redis.call('HSET', key, CHECKPOINT.fence, fence)
redis.call('PEXPIRE', key, 86400000)
return { 0, fields, is_unreadable and 1 or 0 }
