-- Ends a batch. Moved items leave the source. Items that could not be moved become visible there again.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg batch: digits
-- @arg failure: text, why the task has failed, or ''
-- @arg shards: text, by commas, those of the lanes
-- @arg in_lanes: number, items that are now deliveries
-- @list items
-- @item item: text
-- @item is_moved: flag
-- Returns 1, or 0 if a later run has the task or the batch is done.
-- @include now
-- @include when-full
-- @include queue
-- @include redrive
-- @include redrive-end
local key = base .. 'redrive:' .. id
local h = redis.call('HMGET', key, TASK.fence, TASK.batch, TASK.items)
if h[1] ~= fence or h[2] ~= batch or not h[3] then return 0 end
run_when_full(base)
local queue = task_queue(base, key)
local moved, skipped, back = 0, 0, false

local function release(item)
  if redis.call('ZREM', queue.q .. 'chosen', item) == 1 then
    show_item(queue, item)
    back = true
  end
end

for item, is_moved in items() do
  if is_moved then
    moved = moved + 1
    if queue then remove_item(queue, item) end
  else
    skipped = skipped + 1
    if queue then release(item) end
  end
end
redis.call('HINCRBY', key, TASK.moved, moved)
redis.call('HINCRBY', key, TASK.skipped, skipped)
redis.call('HDEL', key, TASK.items)
redis.call('HINCRBY', key, TASK.inLanes, in_lanes)
add_shards(key, shards)
if queue then
  keep_clock(queue)
  trim_recent(queue)
end
if failure ~= '' then end_task(base, key, 'failed', failure, now_ms(base)) end
if queue and (back or queue.woken) then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return 1
