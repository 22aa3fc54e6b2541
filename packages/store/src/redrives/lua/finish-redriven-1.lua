-- Ends a batch: what has been moved leaves the source, what could not be moved becomes visible there again.
-- KEYS[1] base of the source
-- ARGV: id, fence, batch, why the task has failed or '', then id and '1' (moved) or '0' of each item
-- Returns 1, or 0 where a later run has the task or the batch is done.
-- @include now
-- @include when-full
-- @include queue
-- @include redrive
local base, key = KEYS[1], KEYS[1] .. 'redrive:' .. ARGV[1]
local h = redis.call('HMGET', key, 'fence', 'batch', 'items')
if h[1] ~= ARGV[2] or h[2] ~= ARGV[3] or not h[3] then return 0 end
run_when_full(base)
local queue = task_queue(base, key)
local moved, skipped, back = 0, 0, false

local function release(id)
  if redis.call('ZREM', queue.q .. 'held', id) == 1 then
    show_item(queue, id)
    back = true
  end
end

for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '1' then
    moved = moved + 1
    if queue then remove_item(queue, ARGV[i]) end
  else
    skipped = skipped + 1
    if queue then release(ARGV[i]) end
  end
end
redis.call('HINCRBY', key, 'moved', moved)
redis.call('HINCRBY', key, 'skipped', skipped)
redis.call('HDEL', key, 'items')
if queue then
  keep_clock(queue)
  trim_recent(queue)
end
if ARGV[4] ~= '' then end_task(base, key, 'failed', ARGV[4], now_ms(base)) end
if queue and (back or queue.woken) then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return 1
