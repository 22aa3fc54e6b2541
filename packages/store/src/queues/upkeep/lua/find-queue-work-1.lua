-- Finds queues of a shard that the sweep must work on, page by page. An idle queue costs four commands within this
-- script, instead of a script of its own. The others keep their clocks, so that a later step of Redis's clock hides no
-- message for long.
-- @key base: of the shard
-- @arg after: text, the last ARN of the page before, or ''
-- @arg queues_max: number
-- Returns the last ARN of the page ('' at the end), ARNs of queues with work or with data that cannot be read, and of
--   empty queues that topics made: ARN and topic, one after the other.
-- @include queue
-- @include when-full
run_when_full(base)
local from = after == '' and '-' or '(' .. after
local page = redis.call('ZRANGEBYLEX', base .. 'queues', from, '+', 'LIMIT', 0, queues_max)
local found, empty = {}, {}

local function first(queue, place)
  return tonumber(redis.call('ZRANGE', queue.q .. place, 0, 0, 'WITHSCORES')[2]) or math.huge
end

local function has_work(arn)
  local queue = open_queue(base, arn)
  if not queue then return false end
  local oldest = first(queue, 'age')
  if oldest == math.huge and queue.letters then
    empty[#empty + 1], empty[#empty + 2] = arn, redis.call('HGET', queue.key, QUEUE.topic)
  end
  local left = first(queue, 'recent')
  if queue.fifo or oldest < math.huge or left < math.huge then keep_clock(queue) end
  return oldest <= queue.clock - queue.retention or first(queue, 'moving') <= queue.clock
    or left <= queue.clock - RECENT_MS
end

for _, arn in ipairs(page) do
  local works, result = pcall(has_work, arn)
  if not works or result then found[#found + 1] = arn end
end
return { #page == queues_max and page[#page] or '', found, empty }
