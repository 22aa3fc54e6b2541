-- Deletes messages by receipt handle. One that has been received again since stays, and one that is gone already needs
-- nothing: both are answered as done, as SQS does for standard queues. In a FIFO queue the handle must be of the newest
-- receive, and its time not be over.
-- KEYS[1] base
-- ARGV: arn, then uid, id and digest of each handle
-- Returns false where there is no such queue, else for each handle 1, 0 where it belongs to another queue, or 2 where it
--   has expired.
-- @include now
-- @include when-full
-- @include queue
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
run_when_full(base)

local function delete(id, digest)
  local h = redis.call('HMGET', queue.q .. 'i:' .. id, 'h', 's')
  local expired = h[2] and (h[1] ~= digest or queue.fifo and not in_flight(queue, id))
  if queue.fifo and expired then return 2 end
  if h[1] == digest then remove_item(queue, id) end
  return 1
end

local results = {}
for i = 2, #ARGV, 3 do
  local uid, id, digest = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  results[#results + 1] = uid == queue.uid and delete(id, digest) or 0
end
keep_clock(queue)
trim_recent(queue)
wake_readers(queue)
return results
