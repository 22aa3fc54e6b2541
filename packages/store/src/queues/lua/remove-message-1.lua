-- Deletes one message in any state.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg id: text
-- Returns 1, or 0 if there is no such queue or message.
-- @include when-full
-- @include queue
local queue = open_queue(base, arn)
if not queue then return 0 end
run_when_full(base)
keep_clock(queue)
local removed = remove_item(queue, id)
trim_recent(queue)
wake_readers(queue)
return removed and 1 or 0
