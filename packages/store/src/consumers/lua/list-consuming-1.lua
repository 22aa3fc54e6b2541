-- Lists a shard's queues that have push consumers, by ARN. Each is listed with its consumers, and with the time until a
-- message can be received.
-- @key base: of the shard
-- @arg after: text, ARN after which the list continues; '' from the start
-- @arg queues_max: digits
-- Returns for each queue: ARN, ms until a message can be received (0: now; -1: only after a new message), records of
-- its consumers
-- @include when-full
-- @include queue
-- @include queue-groups
-- @include queue-take
run_when_full(base)
local found = {}
local from = after == '' and '-' or '(' .. after
for _, arn in ipairs(redis.call('ZRANGEBYLEX', base .. 'consuming', from, '+', 'LIMIT', 0, queues_max)) do
  local queue = open_queue(base, arn)
  if queue then
    local next_ms = queue.fifo and next_in_order(queue) or next_visible(queue)
    found[#found + 1] = { arn, next_ms, redis.call('HVALS', queue.q .. 'consumers') }
  end
end
return found
