-- Ends moves to the dead-letter queue, and forgets the items that were appended there. If there is no such queue, it
-- makes them visible again, and they may be received once more in spite of the redrive policy.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg forgets: flag, else they become visible again
-- @list moves
-- @item id: text
-- @item count: digits, receive count when the move began. With another count the item came back and was received since:
--   its move is another one, and is left alone
-- Returns the number of moves that were still open.
-- @include when-full
-- @include queue
local queue = open_queue(base, arn)
if not queue then return 0 end
run_when_full(base)
keep_clock(queue)
local settled = 0
for id, count in moves() do
  local is_same = redis.call('HGET', queue.q .. 'i:' .. id, ITEM.receiveCount) == count
  if is_same and redis.call('ZREM', queue.q .. 'moving', id) == 1 then
    settled = settled + 1
    if forgets then
      remove_item(queue, id, true)
    else
      redis.call('HSET', queue.q .. 'i:' .. id, ITEM.again, '1')
      show_item(queue, id)
    end
  end
end
trim_recent(queue)
wake_readers(queue)
return settled
