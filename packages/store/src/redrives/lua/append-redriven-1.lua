-- Appends a batch of a redrive task to a queue. A repeated batch appends nothing, even if its items have been consumed
-- since: the shard remembers the batch's items (as park-redriven does). A lower fence or an earlier batch changes
-- nothing.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg task: text
-- @arg fence: number
-- @arg batch: number
-- @rest items: values of each (queue-store.lua)
-- Returns 1, 0 if the fence is stale, that batch's number in a list if a later batch has been here, or false if
--   there is no such queue.
-- @include when-full
-- @include queue
-- @include queue-store
-- How long a queue's shard remembers the last batch of a redrive. After it: a repeated batch is appended again.
local APPENDED_KEPT_MS = 86400000
local key = base .. 'redriven:' .. task
local queue = open_queue(base, arn)
if not queue then return false end
local stored = redis.call('HMGET', key, REDRIVEN.fence, REDRIVEN.batch)
local last = tonumber(stored[2]) or batch
if (tonumber(stored[1]) or 0) > fence then return 0 end
if last > batch then return { last } end
run_when_full(base)
keep_clock(queue)
if last < batch then redis.call('DEL', key) end
redis.call('HSET', key, REDRIVEN.fence, fence, REDRIVEN.batch, batch)
redis.call('PEXPIRE', key, APPENDED_KEPT_MS)
for at = items_at - 1, #ARGV - 1, VALUE.size do
  local id = ARGV[at + VALUE.id]
  if redis.call('HSETNX', key, id, '') == 1 then store_item(queue, at) end
end
redis.call('PUBLISH', 'ft:wake:queues', queue.arn)
return 1
