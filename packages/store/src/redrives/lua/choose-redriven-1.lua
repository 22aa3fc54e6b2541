-- Chooses a task's next batch and records it, so that whoever runs the task after a crash has the same one. Its items
-- are held: nobody receives them. What is in flight stays with its consumer and counts as skipped, and with it, in a
-- FIFO queue, all that follows it in its group: it may come back, and would then be behind them.
-- KEYS[1] base of the source
-- ARGV: id, fence, items at most, bytes at most, looked at at most, filter (five values, queue-scan.lua)
-- Returns { 'batch', number, items } | { 'again' } (nothing on this page) | { 'wait', ms } (the rate) | { 'stop' }
--   (paused or ended, maybe just now) | { 'stale' }
-- @include now
-- @include when-full
-- @include queue
-- @include queue-scan
-- @include redrive
local base, key = KEYS[1], KEYS[1] .. 'redrive:' .. ARGV[1]
local names = { 'status', 'fence', 'batch', 'items', 'score', 'last', 'done', 'newest', 'rate', 'next' }
local values, task = redis.call('HMGET', key, unpack(names)), {}
for i, name in ipairs(names) do task[name] = values[i] end
if task.fence ~= ARGV[2] then return { 'stale' } end
run_when_full(base)
local active = task.status == 'running' or task.status == 'paused' or task.status == 'canceling'
local queue = task_queue(base, key)
if active and not queue then end_task(base, key, 'failed', 'the source queue is gone', now_ms(base)) end
if not active or not queue then return { 'stop' } end

local function batch_of(number, ids)
  local items = {}
  for i, id in ipairs(ids) do items[i] = item_of(queue, id) end
  return { 'batch', number, items }
end

if task.items then return batch_of(tonumber(task.batch), cjson.decode(task.items)) end
if task.status == 'canceling' then end_task(base, key, 'canceled', '', queue.now) end
if task.status == 'running' and task.done == '1' then end_task(base, key, 'completed', '', queue.now) end
if task.status ~= 'running' or task.done == '1' then return { 'stop' } end
local wait, max = pace(task, queue.now, tonumber(ARGV[3]))
if wait > 0 then return { 'wait', wait } end

local ids, bytes, skipped, q, left = {}, 0, 0, queue.q, key .. ':left'
local function is_elsewhere(id)
  local back = tonumber(redis.call('ZSCORE', q .. 'flight', id))
  return (back and back > queue.clock) or redis.call('ZSCORE', q .. 'moving', id)
end

local function skip(group)
  skipped = skipped + 1
  if not group then return end
  redis.call('SADD', left, group)
  redis.call('PEXPIRE', left, KEPT_MS)
end

local function choose(id)
  local group = queue.fifo and redis.call('HGET', q .. 'i:' .. id, 'g')
  local follows = group and redis.call('SISMEMBER', left, group) == 1
  if follows or is_elsewhere(id) then
    skip(not follows and group)
    return false
  end
  ids[#ids + 1] = id
  bytes = bytes + redis.call('HSTRLEN', q .. 'i:' .. id, 'p')
  return #ids >= max or bytes >= tonumber(ARGV[4])
end

local cursor, filter = { score = task.score, id = task.last }, read_filter(unpack(ARGV, 6, 10))
local score, last = scan(queue, cursor, filter, task.newest, tonumber(ARGV[5]), choose)
redis.call('HINCRBY', key, 'skipped', skipped)
redis.call('HSET', key, 'score', score, 'last', last, 'done', score == '' and '1' or '')
if #ids == 0 then return { 'again' } end
keep_clock(queue)
for _, id in ipairs(ids) do hold_item(queue, id) end
local number = tonumber(task.batch) + 1
redis.call('HSET', key, 'batch', number, 'items', cjson.encode(ids))
if tonumber(task.rate) then redis.call('HSET', key, 'next', next_start(task, queue.now, #ids)) end
return batch_of(number, ids)
