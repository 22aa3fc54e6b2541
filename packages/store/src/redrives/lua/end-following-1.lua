-- Lets a resend that follows a topic's archive end soon.
-- @key base: of the topic's home shard
-- @arg id: text
-- @arg fence: digits
-- @arg in_ms: number, messages that are kept within this time are its last ones
-- Returns 1, or 0 if another run has the task.
-- @include now
-- @include when-full
run_when_full(base)
local key = base .. 'redrive:' .. id
if redis.call('HGET', key, TASK.fence) ~= fence then return 0 end
if redis.call('HGET', key, TASK.follows) ~= '1' then return 1 end
local newest = (now_ms(base) + in_ms) * NUMBER.KEPT_STEPS
redis.call('HSET', key, TASK.newest, string.format('%.0f', newest), TASK.follows, '')
return 1
