-- Chooses a task's next batch and records it, so that after a crash the next start gets the same one. No receiver gets
-- its items. Messages in flight stay with their consumers and count as skipped. In a FIFO queue the messages behind
-- them in their group are skipped too. A message in flight may come back, and would otherwise be behind these.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg items_max: number
-- @arg bytes_max: number
-- @arg looked_at_max: number
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns one of these lists:
--   - 'batch', number, items
--   - 'again': this page has nothing to move
--   - 'wait', ms: because of the rate
--   - 'canary', ms: the canary is moved, and the task has waited this long for its ends
--   - 'stop': the task is paused or has ended, maybe just now
--   - 'stale'
-- @include now
-- @include when-full
-- @include queue
-- @include queue-scan
-- @include redrive
-- @include redrive-end
local key = base .. 'redrive:' .. id
local task = read_task(key)
if task.fence ~= fence then return { 'stale' } end
run_when_full(base)
local active = task.status == 'running' or task.status == 'paused' or task.status == 'canceling'
local queue = task_queue(base, key)
if active and not queue then end_task(base, key, 'failed', 'the source queue is gone', now_ms(base)) end
if not active or not queue then return { 'stop' } end

local function batch_of(number, chosen)
  local found = {}
  for i, item in ipairs(chosen) do found[i] = item_of(queue, item) end
  return { 'batch', number, found }
end

if task.items then return batch_of(tonumber(task.batch), cjson.decode(task.items)) end
if task.status == 'canceling' then end_task(base, key, 'canceled', '', queue.now) end
if task.status == 'running' and task.done == '1' then end_task(base, key, 'completed', '', queue.now) end
if task.status ~= 'running' or task.done == '1' then return { 'stop' } end
if task.canary and task.moved >= task.canary then
  if not task.canary_at then redis.call('HSET', key, TASK.canaryAt, queue.now) end
  return { 'canary', queue.now - (task.canary_at or queue.now) }
end
local wait, max = pace(task, queue.now, items_max)
if task.canary then max = math.min(max, task.canary - task.moved) end
if wait > 0 then return { 'wait', wait } end

local items, bytes, skipped, q, left = {}, 0, 0, queue.q, key .. ':left'
local function skip(group)
  skipped = skipped + 1
  if not group then return end
  redis.call('SADD', left, group)
  redis.call('PEXPIRE', left, TASK_KEPT_MS)
end

local function choose(item)
  local group = queue.fifo and redis.call('HGET', q .. 'i:' .. item, ITEM.group)
  local follows = group and redis.call('SISMEMBER', left, group) == 1
  if follows or is_elsewhere(queue, item) then
    skip(not follows and group)
    return false
  end
  items[#items + 1] = item
  bytes = bytes + redis.call('HSTRLEN', q .. 'i:' .. item, ITEM.payload)
  return #items >= max or bytes >= bytes_max
end

local cursor = { score = task.score, id = task.last }
local filter = read_filter(filter_json)
local score, last = scan(queue, cursor, filter, task.newest, looked_at_max, choose)
redis.call('HINCRBY', key, TASK.skipped, skipped)
redis.call('HSET', key, TASK.score, score, TASK.last, last, TASK.done, score == '' and '1' or '')
if #items == 0 then return { 'again' } end
keep_clock(queue)
for _, item in ipairs(items) do choose_item(queue, item) end
local number = tonumber(task.batch) + 1
redis.call('HSET', key, TASK.batch, number, TASK.items, cjson.encode(items))
if tonumber(task.rate) then redis.call('HSET', key, TASK.next, next_start(task, queue.now, #items)) end
return batch_of(number, items)
