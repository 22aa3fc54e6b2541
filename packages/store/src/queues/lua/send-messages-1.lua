-- Stores items in a queue, all or none. An item whose given id is known is left out. So is, in a FIFO queue, one whose
-- deduplication id was sent in the last 5 minutes.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg runs_when_full: flag
-- @arg is_by_body: flag, a deduplication id is made from a body
-- @rest items: values of each (queue-store.lua)
-- Returns false if there is no such queue, 0 if it takes no such deduplication id, else for each item: id of what
--   is in the queue, sequence or '', 1 stored or 0 known.
-- @include when-full
-- @include queue
-- @include queue-store
local queue = open_queue(base, arn)
if not queue then return false end
if is_by_body and not queue.by_content then return 0 end
if runs_when_full then run_when_full(base) end
keep_clock(queue)
local results, any = {}, false
for at = items_at - 1, #ARGV - 1, VALUE.size do
  local id, sequence, stored = store_item(queue, at)
  any = any or stored
  results[#results + 1] = { id, sequence, stored and 1 or 0 }
end
if any or queue.woken then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return results
