-- Ends a redrive task in its source's shard.
-- @limit How long an ended redrive is kept. After it: it is deleted.
local TASK_KEPT_MS = 1209600000

-- Members of the task may be lost, so its source is found by the id.
local function end_task(base, key, status, reason, now)
  redis.call('HSET', key, TASK.status, status, TASK.endedAt, now, TASK.error, reason)
  redis.call('HDEL', key, TASK.items, TASK.edit)
  redis.call('DEL', key .. ':left')
  redis.call('PEXPIRE', key, TASK_KEPT_MS)
  local id, active = string.match(key, '[^:]+$'), redis.call('HGETALL', base .. 'redriving')
  for i = 1, #active, 2 do
    if active[i + 1] == id then redis.call('HDEL', base .. 'redriving', active[i]) end
  end
end
