-- Storing an item in a queue. Needs queue.

local ITEM_VALUES = 16

-- `at` is the position in ARGV before the item's values: id, payload, '1' if the sender gave the id, delay in ms
-- ('' the queue's own), sent at ('' now), retention counts from ('' sent at), receive count, first received at, source
-- queue; of a dead letter: reason, status code, subscription ARN, dead-lettered at, message id; group and
-- deduplication id ('' none). False where the item is here, or was in the last 10 minutes.
local function store_item(queue, at)
  local id, payload, given, delay, sent, from, count, first, source = unpack(ARGV, at + 1, at + 9)
  local reason, status, subscription, dead_at, message, group, dedup = unpack(ARGV, at + 10, at + 16)
  local q, item = queue.q, queue.q .. 'i:' .. id
  if given == '1' then
    if redis.call('EXISTS', item) == 1 then return false end
    local left = redis.call('ZSCORE', q .. 'recent', id)
    if left and tonumber(left) > queue.clock - RECENT_MS then return false end
  end
  local sent_at = math.min(tonumber(sent) or queue.now, queue.now)
  local kept_from = math.min(tonumber(from) or sent_at, queue.now) + queue.offset
  -- Thousandths keep the order of what is sent within one millisecond.
  local order = (redis.call('HINCRBY', queue.key, 'seq', 1) % 1000) / 1000
  redis.call('HSET', item, 'p', payload, 's', sent_at, 'c', count)
  if given == '1' then redis.call('HSET', item, 'i', '1') end
  if first ~= '' then redis.call('HSET', item, 'f', first) end
  if group ~= '' then redis.call('HSET', item, 'g', group) end
  if dedup ~= '' then redis.call('HSET', item, 'd', dedup) end
  if source ~= '' then redis.call('HSET', item, 'x', source) end
  if dead_at ~= '' or source ~= '' then redis.call('HSET', item, 'e', dead_at ~= '' and dead_at or queue.now) end
  if reason ~= '' then
    redis.call('HSET', item, 'r', reason, 'k', status, 'u', subscription, 'm', message)
    count_dead(queue, 1, reason, status, subscription)
  end
  redis.call('ZADD', q .. 'age', kept_from + order, id)
  local delay_ms = tonumber(delay) or queue.delay
  local place = delay_ms > 0 and 'delayed' or 'ready'
  redis.call('ZADD', q .. place, queue.clock + delay_ms + order, id)
  return true
end
