-- Deletes one message, whatever its state.
-- KEYS[1] base
-- ARGV: arn, id
-- Returns 1, or 0 where there is no such queue or message.
-- @include when-full
-- @include queue
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return 0 end
run_when_full(KEYS[1])
keep_clock(queue)
local removed = remove_item(queue, ARGV[2])
trim_recent(queue)
wake_readers(queue)
return removed and 1 or 0
