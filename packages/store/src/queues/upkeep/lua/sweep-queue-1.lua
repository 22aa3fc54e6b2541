-- Removes expired items from a queue, which may be idle, and returns moves whose lease has ended.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg items_max: number
-- @arg moves_max: number
-- Returns false if there is no such queue, else: items removed, dead-letter queue, moves, of an empty queue that a
--   topic made that topic or ''.
-- @include when-full
-- @include queue
-- @include queue-take
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local removed = expire_items(queue, items_max)
trim_recent(queue)
local moves = overdue_moves(queue, moves_max)
wake_readers(queue)
local is_empty = queue.letters and redis.call('EXISTS', queue.q .. 'age') == 0
return { removed, queue.target, moves, is_empty and redis.call('HGET', queue.key, QUEUE.topic) or '' }
