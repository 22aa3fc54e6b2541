-- Changes an active task: its rate, or its status. A task with a batch under way is canceled when that batch is done.
-- A task that cannot be read is not run, so it is abandoned: its batch returns to the source, although it may have been
-- sent.
-- @key base: of the source
-- @arg id: text
-- @arg what: text, 'rate' | 'pause' | 'resume' | 'cancel' | 'abandon'
-- @arg rate: text, messages a second, or ''
-- Returns 'missing', 'wrong' (not in this state), or 'ok'.
-- @include now
-- @include when-full
-- @include queue
-- @include redrive-end
local key = base .. 'redrive:' .. id
local status = redis.call('HGET', key, TASK.status)
if not status and redis.call('EXISTS', key) == 0 then return 'missing' end
local allowed = {
  rate = { running = true, paused = true },
  pause = { running = true, paused = true },
  resume = { running = true, paused = true },
}

-- A source has one task, so every chosen item is of its batch. A run that has the batch finds its fence gone.
local function abandon()
  redis.call('HDEL', key, TASK.fence)
  local active = redis.call('HGETALL', base .. 'redriving')
  for i = 1, #active, 2 do
    local queue = active[i + 1] == id and open_queue(base, active[i])
    for _, item in ipairs(queue and redis.call('ZRANGE', queue.q .. 'chosen', 0, -1) or {}) do
      redis.call('ZREM', queue.q .. 'chosen', item)
      show_item(queue, item)
    end
    if queue then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
  end
  end_task(base, key, 'canceled', '', now_ms(base))
end

-- An active task may have lost members. It can be canceled nevertheless.
local is_over = status == 'completed' or status == 'failed' or status == 'canceled'
local ends = what == 'cancel' or what == 'abandon'
if is_over or not ends and not allowed[what][status] then return 'wrong' end
run_when_full(base)
if what == 'rate' then
  redis.call('HSET', key, TASK.maxMessagesPerSecond, rate)
elseif what == 'abandon' then
  abandon()
elseif what == 'cancel' and redis.call('HEXISTS', key, TASK.items) == 0 then
  end_task(base, key, 'canceled', '', now_ms(base))
else
  local changed = ({ pause = 'paused', resume = 'running', cancel = 'canceling' })[what]
  redis.call('HSET', key, TASK.status, changed, TASK.pauseReason, '')
end
redis.call('PUBLISH', 'ft:wake:redrives', id)
return 'ok'
