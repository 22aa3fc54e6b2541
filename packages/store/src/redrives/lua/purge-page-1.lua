-- Removes the next page of the dead letters that a purge task matches, and notes how far it is. They may be visible, in
-- flight or delayed. All of it is one step, so a crash repeats nothing.
-- @key base: of the source
-- @arg id: text
-- @arg fence: digits
-- @arg looked_at_max: number
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns how many were removed, then 'again' (there is more), 'stop' (paused or ended, maybe just now) or 'stale'.
-- @include now
-- @include when-full
-- @include queue
-- @include queue-scan
-- @include redrive
-- @include redrive-end
local key = base .. 'redrive:' .. id
local h = redis.call('HMGET', key, TASK.status, TASK.fence, TASK.score, TASK.last, TASK.newest)
local status, cursor = h[1], { score = h[3], id = h[4] }
if h[2] ~= fence then return { 0, 'stale' } end
if status ~= 'running' then return { 0, 'stop' } end
run_when_full(base)
local queue = task_queue(base, key)
if not queue then
  end_task(base, key, 'failed', 'the queue is gone', now_ms(base))
  return { 0, 'stop' }
end
local found = {}
local score, last = scan(queue, cursor, read_filter(filter_json), h[5], looked_at_max, function(item, of)
  if of.reason then found[#found + 1] = item end
  return false
end)
keep_clock(queue)
for _, item in ipairs(found) do remove_item(queue, item) end
trim_recent(queue)
wake_readers(queue)
redis.call('HINCRBY', key, TASK.moved, #found)
redis.call('HSET', key, TASK.score, score, TASK.last, last)
if score ~= '' then return { #found, 'again' } end
end_task(base, key, 'completed', '', queue.now)
return { #found, 'stop' }
