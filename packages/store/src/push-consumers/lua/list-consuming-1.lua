-- Lists a shard's queues that have push consumers, by ARN. Each is listed with its consumers, and with the time until a
-- message can be received.
-- @key base: of the shard
-- @arg after: text, ARN after which the list continues; '' from the start
-- @arg queues_max: number
-- Returns the last ARN of the page ('' at the end), the queues, and ARNs of queues whose data cannot be read. For each
-- queue: ARN, ms until a message can be received (0: now; -1: only after a new message), records of its consumers
-- @include when-full
-- @include queue
-- @include queue-groups
-- @include queue-take
run_when_full(base)
local from = after == '' and '-' or '(' .. after
local page = redis.call('ZRANGEBYLEX', base .. 'consuming', from, '+', 'LIMIT', 0, queues_max)
local found, unreadable = {}, {}

local function consuming(arn)
  local queue = open_queue(base, arn)
  if not queue then return nil end
  local next_ms = queue.fifo and next_in_order(queue) or next_visible(queue)
  return { arn, next_ms, redis.call('HVALS', queue.q .. 'push-consumers') }
end

for _, arn in ipairs(page) do
  local works, queue = pcall(consuming, arn)
  if works then found[#found + 1] = queue else unreadable[#unreadable + 1] = arn end
end
return { #page == queues_max and page[#page] or '', found, unreadable }
