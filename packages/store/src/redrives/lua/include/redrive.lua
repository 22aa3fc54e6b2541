-- A redrive task in its source's shard.
-- @include queue
local PACE_MS = 250

-- The task's order and progress. `canary`: how many messages its canary has. nil: it has none, or it is judged.
local function read_task(key)
  local h = redis.call('HMGET', key, TASK_READ.all)
  return {
    status = h[TASK_READ.status], fence = h[TASK_READ.fence], batch = h[TASK_READ.batch], items = h[TASK_READ.items],
    score = h[TASK_READ.score], last = h[TASK_READ.last], done = h[TASK_READ.done], newest = h[TASK_READ.newest],
    rate = h[TASK_READ.maxMessagesPerSecond], next = h[TASK_READ.next], moved = tonumber(h[TASK_READ.moved]),
    canary = h[TASK_READ.isJudged] ~= '1' and tonumber(h[TASK_READ.canary]) or nil,
    canary_at = tonumber(h[TASK_READ.canaryAt]), topic = h[TASK_READ.topic], uid = h[TASK_READ.uid],
    archive = h[TASK_READ.archive],
  }
end

-- The queue that the task works on. nil: it is gone. Another queue may have its name.
local function task_queue(base, key)
  local h = redis.call('HMGET', key, TASK.source, TASK.uid)
  local queue = open_queue(base, h[1])
  if queue and queue.uid == h[2] then return queue end
  return nil
end

-- Whether a consumer has the item, or it is on its way to another queue.
local function is_elsewhere(queue, item)
  local back = tonumber(redis.call('ZSCORE', queue.q .. 'flight', item))
  return (back and back > queue.clock) or redis.call('ZSCORE', queue.q .. 'moving', item)
end

-- Ms until the task's rate allows another batch (0: now), and the most items that this batch may have.
local function pace(task, now, max)
  local rate, start = tonumber(task.rate), tonumber(task.next) or 0
  if not rate then return 0, max end
  -- No batch sets a time that far ahead, so the clock was set back.
  local wait = start - now
  if wait > 0 and wait <= 1000 / math.min(rate, 1) + PACE_MS then return math.ceil(wait), 0 end
  return 0, math.min(max, math.max(1, math.floor(rate * PACE_MS / 1000)))
end

-- When the batch after one of `count` items may begin. A late batch catches up at most CATCH_UP_MS.
local CATCH_UP_MS = 50
local function next_start(task, now, count)
  return math.ceil(math.max(tonumber(task.next) or 0, now - CATCH_UP_MS) + count * 1000 / tonumber(task.rate))
end

-- Notes the shards of lanes that got messages of the task.
local function add_shards(key, shards)
  local known = redis.call('HGET', key, TASK.shards) or ''
  for shard in string.gmatch(shards, '%d+') do
    if not string.find(',' .. known .. ',', ',' .. shard .. ',', 1, true) then
      known = known == '' and shard or known .. ',' .. shard
    end
  end
  if known ~= '' then redis.call('HSET', key, TASK.shards, known) end
end
