-- Push consumers. A batch that is being pushed holds a lease, which its worker renews. A consumer has as many leases as
-- its concurrency. No lease is taken while nothing is pushed, so waiting for messages costs nothing.
-- @include queue-fair-order
-- Lease of a push consumer's batch. After it: another worker may take one in its place.
local PUSH_LEASE_MS = 10000
local PUSH_LEASES_KEPT_MS = 60000

local function push_leases_key(queue, name) return queue.q .. 'push-leases:' .. name end

local function hold_push_lease(queue, name, batch)
  redis.call('ZADD', push_leases_key(queue, name), queue.clock + PUSH_LEASE_MS, batch)
  redis.call('PEXPIRE', push_leases_key(queue, name), PUSH_LEASES_KEPT_MS)
end

local function end_push_leases(queue, name, batches)
  for _, batch in ipairs(batches) do redis.call('ZREM', push_leases_key(queue, name), batch) end
end

-- Standard queues: ms until the batch window of the visible messages ends. 0 if it has ended, if the batch is full, or
-- if nothing is visible.
local function window_left(queue, record)
  if queue.fifo or record.batchWindowSeconds == 0 then return 0 end
  local head = first_visible(queue)
  if not head or number_visible(queue) >= record.batchSize then return 0 end
  return math.max(math.ceil(head + record.batchWindowSeconds * 1000 - queue.clock), 0)
end

-- Opens a receive for a consumer. `text` is JSON: `name`, the `revision` of the worker's record, `batch`, `ended`
-- (batches whose leases are given back), `hideMs` (the least time that messages are hidden). Returns nil for any other
-- receive. If the consumer may not receive now, it also returns why ('changed', 'busy', 'early') and ms until it may,
-- -1 never.
local function open_push_consumer(queue, text)
  if text == '' then return nil end
  local consumer = cjson.decode(text)
  end_push_leases(queue, consumer.name, consumer.ended)
  local stored = redis.call('HGET', queue.q .. 'push-consumers', consumer.name)
  local record = stored and cjson.decode(stored)
  if not record or record.revision ~= consumer.revision then return consumer, 'changed', -1 end
  local key = push_leases_key(queue, consumer.name)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', queue.clock)
  -- This batch already has a lease. The receive adds messages to it.
  if redis.call('ZSCORE', key, consumer.batch) then return consumer end
  if redis.call('ZCARD', key) >= record.concurrency then
    local first = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    return consumer, 'busy', math.max(math.ceil(first - queue.clock), 1)
  end
  local left = window_left(queue, record)
  if left > 0 then return consumer, 'early', left end
  return consumer
end

-- Until when received messages are hidden: for the queue's own time, or for the requested one. For a consumer it is at
-- least the time until its request has ended and is settled.
local function hidden_until(queue, asked, consumer)
  local ms = tonumber(asked) or queue.visibility
  return queue.clock + (consumer and math.max(ms, consumer.hideMs) or ms)
end
