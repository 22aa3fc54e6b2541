-- Deletes messages by receipt handle. One that has been received again since stays, and one that is gone already needs
-- nothing: both are answered as done, as SQS does for standard queues.
-- KEYS[1] base
-- ARGV: arn, then uid, id and nonce of each handle
-- Returns false where there is no such queue, else for each handle 1, or 0 where it belongs to another queue.
-- @include now
-- @include when-full
-- @include queue
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
run_when_full(base)
local results = {}
for i = 2, #ARGV, 3 do
  local uid, id, nonce = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local current = redis.call('HGET', queue.q .. 'i:' .. id, 'h')
  if uid == queue.uid and current == nonce then remove_item(queue, id) end
  results[#results + 1] = uid == queue.uid and 1 or 0
end
keep_clock(queue)
trim_recent(queue)
return results
