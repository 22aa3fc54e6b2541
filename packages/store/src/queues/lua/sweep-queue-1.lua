-- Removes what is too old from a queue that may be idle, and takes up moves that nobody has ended.
-- KEYS[1] base
-- ARGV: arn, items at most, moves at most
-- Returns false where there is no such queue, else: items removed, dead-letter queue, moves.
-- @include when-full
-- @include queue
-- @include queue-take
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
run_when_full(KEYS[1])
keep_clock(queue)
local removed = expire_items(queue, tonumber(ARGV[2]))
trim_recent(queue)
local moves = overdue_moves(queue, tonumber(ARGV[3]))
wake_readers(queue)
return { removed, queue.target, moves }
