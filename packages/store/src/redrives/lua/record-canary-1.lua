-- Ends the wait for a canary: the task continues, or pauses itself. When it is resumed, it does not wait again.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg reason: text, why it pauses, or '' if it continues
-- Returns 1, or 0 if a later run has the task.
-- @include when-full
local key = base .. 'redrive:' .. id
local h = redis.call('HMGET', key, TASK.fence, TASK.status)
if h[1] ~= fence then return 0 end
run_when_full(base)
redis.call('HSET', key, TASK.isJudged, '1')
if reason ~= '' and h[2] == 'running' then
  redis.call('HSET', key, TASK.status, 'paused', TASK.pauseReason, reason)
end
return 1
