-- Changes an active task: its rate, or its status. A task with a batch under way is cancelled when that batch is done.
-- @key base: of the source
-- @arg id: text
-- @arg what: text, 'rate' | 'pause' | 'resume' | 'cancel'
-- @arg rate: text, messages a second, or ''
-- Returns 'missing', 'wrong' (not in this state), or 'ok'.
-- @include now
-- @include when-full
-- @include redrive
local key = base .. 'redrive:' .. id
local status = redis.call('HGET', key, TASK.status)
if not status and redis.call('EXISTS', key) == 0 then return 'missing' end
local allowed = {
  rate = { running = true, paused = true },
  pause = { running = true, paused = true },
  resume = { running = true, paused = true },
}
-- An active task may have lost members. It can be cancelled nevertheless.
local is_over = status == 'completed' or status == 'failed' or status == 'canceled'
if is_over or what ~= 'cancel' and not allowed[what][status] then return 'wrong' end
run_when_full(base)
if what == 'rate' then
  redis.call('HSET', key, TASK.maxMessagesPerSecond, rate)
elseif what == 'cancel' and redis.call('HEXISTS', key, TASK.items) == 0 then
  end_task(base, key, 'canceled', '', now_ms(base))
else
  local changed = ({ pause = 'paused', resume = 'running', cancel = 'canceling' })[what]
  redis.call('HSET', key, TASK.status, changed, TASK.pauseReason, '')
end
redis.call('PUBLISH', 'ft:wake:redrives', id)
return 'ok'
