-- Deletes messages by receipt handle. In a standard queue the handle of any receive works, as in SQS. If newest_only is
-- set, only the handle of the newest receive works. A handle that deletes nothing is answered as done, and so is the
-- handle of a deleted message. In a FIFO queue the handle must be of the newest receive and not expired.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg newest_only: flag, handles of earlier receives delete nothing
-- @list handles
-- @item uid: text
-- @item id: text
-- @item digest: text
-- Returns false if there is no such queue, or for each handle: 1 done, 0 it belongs to another queue, 2 it has expired
-- @include when-full
-- @include queue
-- @include queue-handles
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)

local function delete(id, digest)
  local h = members_of(queue, id, ITEM.digests, ITEM.sentAt)
  local rank = receive_of(h[1], digest)
  if queue.fifo and h[2] and (rank ~= 1 or not in_flight(queue, id)) then return 2 end
  if rank == 1 or rank and not newest_only then remove_item(queue, id) end
  return 1
end

local results = {}
for uid, id, digest in handles() do
  results[#results + 1] = uid == queue.uid and delete(id, digest) or 0
end
keep_clock(queue)
trim_recent(queue)
wake_readers(queue)
return results
