-- Standard queues with message groups (fair queues). The visible items of a group are in `g:<group>`, those without a
-- group in `ready`. Groups with visible items are in `heads`, or in `noisy` while they step back (queue-fair.lua), by
-- when their first item became visible.
--
-- Hash `busy`: each group with visible items or items in flight → `<number in flight> <mean> <ms>`. The mean is that of
-- the number in flight, at that time. The longer ago a moment is, the less it counts, so the means compare the recent
-- processing time of groups. The member '' is for all items of the queue. A group that has neither visible items nor
-- items in flight leaves nothing behind, and a queue without groups has only `ready`.

-- After this time, processing time counts about a third in the mean.
local PROCESSING_MS = 60000

-- `n` items of a group in flight, and the `mean`. They are read once in a script, because its time stands still.
local function busy_of(queue, group)
  queue.busy = queue.busy or {}
  local busy = queue.busy[group]
  if busy then return busy end
  local stored = redis.call('HGET', queue.q .. 'busy', group) or ''
  local n, mean, at = string.match(stored, '^(%d+) (%S+) (%d+)$')
  busy = { n = tonumber(n) or 0, mean = 0 }
  if n then busy.mean = n + (mean - n) * math.exp((at - queue.clock) / PROCESSING_MS) end
  queue.busy[group] = busy
  return busy
end

local function write_busy(queue, group)
  local busy = busy_of(queue, group)
  redis.call('HSET', queue.q .. 'busy', group, string.format('%d %.6g %.0f', busy.n, busy.mean, queue.clock))
end

local function forget_busy(queue, group)
  redis.call('HDEL', queue.q .. 'busy', group)
  queue.busy[group] = nil
end

-- Counts items of a group that came into `flight` or left it. `flight` itself was changed before.
local function count_busy(queue, group, by)
  local busy = busy_of(queue, group)
  busy.n = math.max(busy.n + by, 0)
  if busy.n == 0 and redis.call('EXISTS', queue.q .. 'g:' .. group) == 0 then
    forget_busy(queue, group)
  else
    write_busy(queue, group)
  end
  busy_of(queue, '').n = redis.call('ZCARD', queue.q .. 'flight')
  write_busy(queue, '')
end

-- Puts a group into the place of its first visible item.
local function line_up(queue, group)
  local q = queue.q
  local due = redis.call('ZRANGE', q .. 'g:' .. group, 0, 0, 'WITHSCORES')[2]
  if due then
    redis.call('ZADD', q .. (redis.call('ZSCORE', q .. 'noisy', group) and 'noisy' or 'heads'), due, group)
    return
  end
  for _, line in ipairs({ 'heads', 'noisy' }) do redis.call('ZREM', q .. line, group) end
  if busy_of(queue, group).n == 0 then forget_busy(queue, group) end
end

-- An item becomes visible. `group` is nil without one.
local function join_line(queue, id, group, due)
  if not group then return redis.call('ZADD', queue.q .. 'ready', due, id) end
  redis.call('ZADD', queue.q .. 'g:' .. group, due, id)
  line_up(queue, group)
end

-- An item is no longer visible. An item in flight is counted before, so that its group is not forgotten.
local function leave_line(queue, id, group)
  if not group then return redis.call('ZREM', queue.q .. 'ready', id) end
  if redis.call('ZREM', queue.q .. 'g:' .. group, id) == 1 then line_up(queue, group) end
end

-- The queue is empty, so it has no groups any more.
local function forget_groups(queue)
  for _, name in ipairs({ 'heads', 'noisy', 'busy' }) do redis.call('DEL', queue.q .. name) end
  redis.call('HDEL', queue.key, QUEUE.grouped)
  queue.grouped, queue.busy = false, nil
end

local function is_any_visible(queue)
  return redis.call('ZCARD', queue.q .. 'ready') > 0
    or queue.grouped and redis.call('EXISTS', queue.q .. 'heads', queue.q .. 'noisy') > 0
end

-- When the first visible item became visible. nil: there is none.
local function first_visible(queue)
  local first
  for _, line in ipairs(queue.grouped and { 'ready', 'heads', 'noisy' } or { 'ready' }) do
    local due = tonumber(redis.call('ZRANGE', queue.q .. line, 0, 0, 'WITHSCORES')[2])
    first = due and first and math.min(due, first) or due or first
  end
  return first
end

local function number_visible(queue)
  if not queue.grouped then return redis.call('ZCARD', queue.q .. 'ready') end
  local n = redis.call('ZCARD', queue.q .. 'age')
  for _, place in ipairs({ 'flight', 'delayed', 'moving', 'chosen' }) do
    n = n - redis.call('ZCARD', queue.q .. place)
  end
  return n
end
