-- Push consumers: a batch that is being pushed holds a share of its consumer's concurrency, under a lease that its
-- worker renews. No share is held while nothing is pushed, so waiting for messages costs nothing.
-- @limit Lease of a push consumer's share. After it: another worker may take the share.
local SHARE_MS = 10000
local SHARES_KEPT_MS = 60000

local function shares_key(queue, name) return queue.q .. 'shares:' .. name end

local function hold_share(queue, name, batch)
  redis.call('ZADD', shares_key(queue, name), queue.clock + SHARE_MS, batch)
  redis.call('PEXPIRE', shares_key(queue, name), SHARES_KEPT_MS)
end

local function end_shares(queue, name, batches)
  for _, batch in ipairs(batches) do redis.call('ZREM', shares_key(queue, name), batch) end
end

-- Standard queues: ms until the batch window of what is visible is over or the batch full; 0 where that is so, or where
-- nothing is visible.
local function window_left(queue, record)
  if queue.fifo or record.batchWindowSeconds == 0 then return 0 end
  local head = tonumber(redis.call('ZRANGE', queue.q .. 'ready', 0, 0, 'WITHSCORES')[2])
  if not head or redis.call('ZCARD', queue.q .. 'ready') >= record.batchSize then return 0 end
  return math.max(math.ceil(head + record.batchWindowSeconds * 1000 - queue.clock), 0)
end

-- A receive for a consumer. `text` is JSON: `name`, the `revision` of the worker's record, `batch`, `ended` (batches
-- whose shares are given back), `hideMs` (messages are hidden at least this long). nil for any other receive. If it may
-- not receive now, also returns why ('changed', 'busy', 'early') and ms until it may, -1 never.
local function open_consumer(queue, text)
  if text == '' then return nil end
  local consumer = cjson.decode(text)
  end_shares(queue, consumer.name, consumer.ended)
  local stored = redis.call('HGET', queue.q .. 'consumers', consumer.name)
  local record = stored and cjson.decode(stored)
  if not record or record.revision ~= consumer.revision then return consumer, 'changed', -1 end
  local key = shares_key(queue, consumer.name)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', queue.clock)
  -- A batch that goes on filling.
  if redis.call('ZSCORE', key, consumer.batch) then return consumer end
  if redis.call('ZCARD', key) >= record.concurrency then
    local first = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    return consumer, 'busy', math.max(math.ceil(first - queue.clock), 1)
  end
  local left = window_left(queue, record)
  if left > 0 then return consumer, 'early', left end
  return consumer
end

-- Until when what is received is hidden: the queue's own time or what was asked for, for a consumer at least until its
-- request has ended and been settled.
local function hidden_until(queue, asked, consumer)
  local ms = tonumber(asked) or queue.visibility
  return queue.clock + (consumer and math.max(ms, consumer.hideMs) or ms)
end
