-- Ends moves to the dead-letter queue: forgets the items that were appended there, or, where there is no such queue,
-- makes them visible to be received once more in spite of the redrive policy.
-- KEYS[1] base
-- ARGV: arn, 'forget' or 'return', then of each its id and receive count when the move began. One that has another
--         count
--   came back and was received since: its move is another one's, and is left alone.
-- Returns the number of moves that were still open.
-- @include when-full
-- @include queue
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return 0 end
run_when_full(base)
keep_clock(queue)
local settled = 0
for i = 3, #ARGV, 2 do
  local id, count = ARGV[i], ARGV[i + 1]
  local is_same = redis.call('HGET', queue.q .. 'i:' .. id, 'c') == count
  if is_same and redis.call('ZREM', queue.q .. 'moving', id) == 1 then
    settled = settled + 1
    if ARGV[2] == 'forget' then
      remove_item(queue, id, true)
    else
      redis.call('HSET', queue.q .. 'i:' .. id, 'n', '1')
      show_item(queue, id)
    end
  end
end
trim_recent(queue)
wake_readers(queue)
return settled
