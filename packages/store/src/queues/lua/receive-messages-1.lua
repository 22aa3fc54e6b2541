-- Receives visible messages of a standard queue, those of noisy groups last (queue-fair.lua). If a message was received
-- as often as the redrive policy allows, it is not returned, but noted as on its way to the dead-letter queue. The
-- caller appends it there, and then settles the move (settle-moves).
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg messages_max: number
-- @arg visibility_ms: number?, nil: the queue's own
-- @arg in_flight_max: number
-- @arg digests: text, 16 bytes per message: the digest of its handle's secret
-- @arg push_consumer_text: text, the push consumer that receives (push-leases.lua), or ''
-- Returns false if there is no such queue, or a list:
--   - uid
--   - ms until the next message becomes visible (-1: never)
--   - dead-letter queue
--   - messages
--   - moves, each a list of items (queue.lua)
--   - 1 if too much is in flight
--   - why a consumer may not receive now
-- @include when-full
-- @include queue
-- @include queue-fair-order
-- @include queue-handles
-- @include queue-take
-- @include queue-fair
-- @include push-leases
-- Delayed messages that one receive makes ready. Past it: the next receive makes the others ready.
local PROMOTED_MAX = 100
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
expire_items(queue, EXPIRED_MAX)
promote(queue, PROMOTED_MAX)
local consumer, refused, wait_ms = open_push_consumer(queue, push_consumer_text)
if refused then return { queue.uid, wait_ms, queue.target, {}, {}, 0, refused } end
local q, messages, moves = queue.q, {}, overdue_moves(queue, messages_max)
local until_ms = hidden_until(queue, visibility_ms, consumer)

local function hide(id, group)
  -- Thousandths keep the order of items that come back together.
  redis.call('ZADD', q .. 'flight', until_ms - (messages_max - #messages) / 1000, id)
  if group then count_busy(queue, group, 1) end
  leave_line(queue, id, group)
end

local function receive(id, group, earlier)
  local digest = string.sub(digests, #messages * DIGEST_BYTES + 1, (#messages + 1) * DIGEST_BYTES)
  local item = q .. 'i:' .. id
  hide(id, group)
  redis.call('HINCRBY', item, ITEM.receiveCount, 1)
  redis.call('HSETNX', item, ITEM.firstReceivedAt, queue.now)
  redis.call('HSET', item, ITEM.digests, with_digest(earlier, digest), ITEM.receivedAt, queue.clock)
  redis.call('HDEL', item, ITEM.again)
  return item_of(queue, id)
end

local function take(id, group)
  local h = members_of(queue, id, ITEM.receiveCount, ITEM.again, ITEM.digests, ITEM.countBefore)
  local age = tonumber(redis.call('ZSCORE', q .. 'age', id))
  if not age then
    leave_line(queue, id, group)
  elseif age <= queue.clock - queue.retention then
    remove_item(queue, id)
  elseif not is_countable(h[1]) then
    hide(id, group)
    messages[#messages + 1] = item_of(queue, id)
  elseif used_up(queue, h[1], h[4], h[2]) then
    moves[#moves + 1] = start_move(queue, id, #moves, group)
  else
    messages[#messages + 1] = receive(id, group, h[3])
  end
end

local free = in_flight_max - redis.call('ZCARD', q .. 'flight')
local wanted = math.min(messages_max - #moves, free)
if wanted > 0 and queue.grouped then
  take_fairly(queue, wanted, take)
elseif wanted > 0 then
  for _, id in ipairs(redis.call('ZRANGE', q .. 'ready', 0, wanted - 1)) do take(id) end
end
trim_recent(queue)
if consumer and #messages > 0 then hold_push_lease(queue, consumer.name, consumer.batch) end
return { queue.uid, next_visible(queue, free <= 0), queue.target, messages, moves, free <= 0 and 1 or 0 }
