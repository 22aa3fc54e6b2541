-- Deletes messages by receipt handle. In a standard queue a handle of any receive will do, as in SQS, or only one of
-- the newest where that is asked for; what it does not delete, and what is gone already, is answered as done. In a FIFO
-- queue the handle must be of the newest receive, and its time not be over.
-- KEYS[1] base
-- ARGV: arn, '1' for newest receives only, then uid, id and digest of each handle
-- Returns false where there is no such queue, else for each handle 1, 0 where it belongs to another queue, or 2 where
--         it
--   has expired.
-- @include when-full
-- @include queue
-- @include queue-handles
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
run_when_full(base)
local newest_only = ARGV[2] == '1'

local function delete(id, digest)
  local h = redis.call('HMGET', queue.q .. 'i:' .. id, 'h', 's')
  local rank = receive_of(h[1], digest)
  if queue.fifo and h[2] and (rank ~= 1 or not in_flight(queue, id)) then return 2 end
  if rank == 1 or rank and not newest_only then remove_item(queue, id) end
  return 1
end

local results = {}
for i = 3, #ARGV, 3 do
  local uid, id, digest = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  results[#results + 1] = uid == queue.uid and delete(id, digest) or 0
end
keep_clock(queue)
trim_recent(queue)
wake_readers(queue)
return results
