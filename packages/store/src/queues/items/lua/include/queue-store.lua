-- Storing an item in a queue.
-- @include queue
-- @include queue-fair-order
-- @include queue-dedup
-- FIFO: ages in one queue differ by at least this, so that they have the order of the sequence numbers.
local AGE_STEP = 1 / 1024

-- An item may arrive here while its own move away from here has not ended. Either it was moved and has come back, or
-- this queue is its own dead-letter queue. The item stays, and its receives are counted from 0 again.
local function end_move(queue, id, count)
  if redis.call('ZREM', queue.q .. 'moving', id) == 0 then return end
  redis.call('HSET', queue.q .. 'i:' .. id, ITEM.receiveCount, count, ITEM.countBefore, count)
  show_item(queue, id)
  queue.woken = true
end

-- Whether an item with an id of its sender was stored before. Also returns its sequence number, if that is still known.
local function known_item(queue, id, by_move, count)
  local item = queue.q .. 'i:' .. id
  if redis.call('EXISTS', item) == 1 then
    if by_move then end_move(queue, id, count) end
    return true, redis.call('HGET', item, ITEM.sequence) or ''
  end
  local left = redis.call('ZSCORE', queue.q .. 'recent', recent_name(id, by_move))
  return left and tonumber(left) > queue.clock - RECENT_MS, ''
end

local function newest_age(queue)
  local last = tonumber(redis.call('ZRANGE', queue.q .. 'age', -1, -1, 'WITHSCORES')[2])
  return last and math.max(queue.clock, last + AGE_STEP) or queue.clock
end

-- Standard queues: the item is visible after the delay. Retention counts from `kept_from`.
local function place_item(queue, id, group, kept_from, delay_ms)
  -- Thousandths keep the order of items that are sent within one millisecond.
  local order = (redis.call('HINCRBY', queue.key, QUEUE.sequence, 1) % 1000) / 1000
  redis.call('ZADD', queue.q .. 'age', kept_from + order, id)
  if group and not queue.grouped then redis.call('HSET', queue.key, QUEUE.grouped, '1') end
  queue.grouped = queue.grouped or group ~= nil
  local visible_at = queue.clock + delay_ms + order
  if delay_ms <= 0 then return join_line(queue, id, group, visible_at) end
  redis.call('ZADD', queue.q .. 'delayed', visible_at, id)
end

-- FIFO queues: puts the item behind all other items of its group. Retention and delay count from now.
local function place_in_group(queue, id, group)
  local sequence, age = redis.call('HINCRBY', queue.key, QUEUE.sequence, 1), newest_age(queue)
  redis.call('ZADD', queue.q .. 'age', age, id)
  redis.call('ZADD', queue.q .. 'g:' .. group, sequence, id)
  if redis.call('ZCARD', queue.q .. 'g:' .. group) == 1 then redis.call('ZADD', queue.q .. 'heads', age, group) end
  redis.call('HSET', queue.q .. 'i:' .. id, ITEM.sequence, sequence)
  return sequence
end

-- `at` is the position in ARGV before the item's values (ITEM_VALUES in lua-names.ts). A FIFO queue takes no time of an
-- item.
-- Returns the id and sequence ('' none) of what is in the queue, and whether that is this item, now stored.
local function store_item(queue, at)
  local id, payload, given = ARGV[at + VALUE.id], ARGV[at + VALUE.payload], ARGV[at + VALUE.idGiven]
  local count, source, reason = ARGV[at + VALUE.receiveCount], ARGV[at + VALUE.source], ARGV[at + VALUE.reason]
  local group, dedup, rule = ARGV[at + VALUE.group], ARGV[at + VALUE.deduplicationId], ARGV[at + VALUE.deduplication]
  local item = queue.q .. 'i:' .. id
  if given == '1' then
    local known, sequence = known_item(queue, id, source ~= '', count)
    if known then return id, sequence, false end
  end
  if queue.fifo and rule ~= '' then
    local other, sequence = first_copy(queue, dedup, group)
    if other then return other, sequence, false end
  end
  local sent_at = math.min(tonumber(ARGV[at + VALUE.sentAt]) or queue.now, queue.now)
  redis.call('HSET', item, ITEM.payload, payload, ITEM.sentAt, sent_at, ITEM.receiveCount, count)
  add_letter_bytes(queue, ITEM_BYTES + #payload)
  if given == '1' then redis.call('HSET', item, ITEM.idGiven, '1') end
  local first, dead_at = ARGV[at + VALUE.firstReceivedAt], ARGV[at + VALUE.deadAt]
  if first ~= '' then redis.call('HSET', item, ITEM.firstReceivedAt, first) end
  if group ~= '' then redis.call('HSET', item, ITEM.group, group) end
  if dedup ~= '' then redis.call('HSET', item, ITEM.deduplicationId, rule == 'b' and '' or dedup) end
  if source ~= '' then redis.call('HSET', item, ITEM.source, source, ITEM.countBefore, count) end
  if dead_at ~= '' or source ~= '' then
    redis.call('HSET', item, ITEM.deadAt, dead_at ~= '' and dead_at or queue.now)
  end
  if reason ~= '' then
    local status, subscription = ARGV[at + VALUE.statusCode], ARGV[at + VALUE.subscription]
    redis.call('HSET', item, ITEM.reason, reason, ITEM.statusCode, status, ITEM.subscription, subscription,
      ITEM.message, ARGV[at + VALUE.message], ITEM.lastError, ARGV[at + VALUE.lastError])
    count_dead(queue, 1, reason, status, subscription)
  end
  if not queue.fifo then
    local kept_from = math.min(tonumber(ARGV[at + VALUE.keptFrom]) or sent_at, queue.now) + queue.offset
    place_item(queue, id, group ~= '' and group or nil, kept_from, tonumber(ARGV[at + VALUE.delay]) or queue.delay)
    return id, '', true
  end
  local sequence = place_in_group(queue, id, group)
  if rule ~= '' then remember_copy(queue, dedup, group, id, sequence) end
  return id, string.format('%.0f', sequence), true
end
