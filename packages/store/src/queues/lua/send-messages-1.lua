-- Stores items in a queue, all or none. Left out is one whose id was given and is known already, and in a FIFO queue
-- one whose deduplication id is that of another one sent in the last 5 minutes.
-- KEYS[1] base
-- ARGV: arn, '1' to store them even when memory is full, '1' where a deduplication id is made from a body, then the
--   values of each item (queue-store.lua)
-- Returns false where there is no such queue, 0 where it takes no such deduplication id, else for each item: id of what
--   is in the queue, sequence or '', 1 stored or 0 known.
-- @include when-full
-- @include queue
-- @include queue-store
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
if ARGV[3] == '1' and not queue.by_content then return 0 end
if ARGV[2] == '1' then run_when_full(base) end
keep_clock(queue)
local results, any = {}, false
for at = 3, #ARGV - 1, ITEM_VALUES do
  local id, sequence, stored = store_item(queue, at)
  any = any or stored
  results[#results + 1] = { id, sequence, stored and 1 or 0 }
end
if any or queue.woken then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return results
