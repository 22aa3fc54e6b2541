-- Common parts of all queue scripts: the queue's settings, its clock, and the removal of items.
-- @include now
-- @include queue-fair-order
-- How long the id of a removed message is remembered, so that a repeated append changes nothing.
local RECENT_MS = 600000
-- Such ids of a queue. Past it: the oldest are forgotten.
local RECENT_MAX = 100000
-- Expired messages that a receive or a look at the figures removes first. Past it: the next one removes the others.
local EXPIRED_MAX = 200
-- @limit How long a received message may be hidden from its receive on. Past it: a change of its visibility is refused,
-- and a repeated receive hides it no longer.
local HIDDEN_MAX_MS = 43200000
-- Approximate bytes of a message in addition to its payload, counted in a topic's own queue.
local ITEM_BYTES = 900
-- FIFO: the time at which an item on its way to another queue would come back, far in the future.
local NEVER_BACK = 8640000000000000

-- nil if there is no such queue. `clock` is the queue's own time in ms: Redis's, except that it never goes back. If
-- Redis's time goes back by up to a second (a failover), the clock stops for this time. If it goes back further, the
-- clock continues from its last time. So no message stays hidden for too long. Only scores use this time; `offset` is
-- how far it is ahead.
local function open_queue(base, arn)
  local key = base .. 'queue:' .. arn
  local h = redis.call('HMGET', key, QUEUE_READ.all)
  local uid = h[QUEUE_READ.uid]
  if not uid then return nil end
  local queue = { key = key, arn = arn, uid = uid, q = base .. 'q:' .. uid .. ':' }
  queue.letters = h[QUEUE_READ.topic] and base .. 'letters'
  queue.now = now_ms(base) - clock_ahead
  queue.fifo = string.sub(arn, -5) == '.fifo'
  queue.visibility, queue.retention = tonumber(h[QUEUE_READ.visibility]), tonumber(h[QUEUE_READ.retention])
  queue.delay, queue.receives = tonumber(h[QUEUE_READ.delay]), tonumber(h[QUEUE_READ.maxReceiveCount])
  queue.target, queue.forgot = h[QUEUE_READ.target], tonumber(h[QUEUE_READ.forgotten]) or 0
  queue.by_content, queue.group_scope = h[QUEUE_READ.byContent] == '1', h[QUEUE_READ.groupScope] == '1'
  queue.grouped = h[QUEUE_READ.grouped] == '1'
  queue.seen, queue.offset = tonumber(h[QUEUE_READ.clockSeen]) or 0, tonumber(h[QUEUE_READ.clockOffset]) or 0
  if queue.now + queue.offset + 1000 < queue.seen then queue.offset = queue.seen - queue.now end
  queue.clock = math.max(queue.now + queue.offset, queue.seen)
  return queue
end

-- Every script that writes must store the queue's clock.
local function keep_clock(queue)
  redis.call('HSET', queue.key, QUEUE.clockSeen, queue.clock, QUEUE.clockOffset, queue.offset)
end

-- Counts bytes, but only for a topic's own queue, whose bytes are bounded.
local function add_letter_bytes(queue, bytes)
  if not queue.letters then return end
  if redis.call('HINCRBY', queue.letters, queue.arn, bytes) <= 0 then redis.call('HDEL', queue.letters, queue.arn) end
end

local function count_dead(queue, by, reason, status, subscription)
  local key = queue.q .. 'dead'
  for _, field in ipairs({ 'r:' .. reason, 'k:' .. status, 'u:' .. subscription }) do
    if redis.call('HINCRBY', key, field, by) <= 0 then redis.call('HDEL', key, field) end
  end
end

-- FIFO: puts a group into the set for its first item. It is `heads`, by age, if the item was never received, else
-- `back`, by its time of coming back. One look at the two sets then finds a group with a message to receive, however
-- many groups have none.
local function place_group(queue, group)
  local q, due, age = queue.q, nil, nil
  local head = redis.call('ZRANGE', q .. 'g:' .. group, 0, 0)[1]
  if head then due = redis.call('ZSCORE', q .. 'flight', head) end
  if head and not due then age = redis.call('ZSCORE', q .. 'age', head) end
  if due then redis.call('ZADD', q .. 'back', due, group) else redis.call('ZREM', q .. 'back', group) end
  if age then redis.call('ZADD', q .. 'heads', age, group) else redis.call('ZREM', q .. 'heads', group) end
  local visible_at = due and tonumber(due) or age and math.floor(tonumber(age)) + queue.delay
  if visible_at and visible_at <= queue.clock then queue.woken = true end
end

-- FIFO: hides an item until `due`, and with it all that follow in its group.
local function hide_in_group(queue, id, due)
  redis.call('ZADD', queue.q .. 'flight', due, id)
  local group = redis.call('HGET', queue.q .. 'i:' .. id, ITEM.group)
  if group then place_group(queue, group) end
end

-- FIFO: whether the item was received and is not yet due back.
local function in_flight(queue, id)
  local due = tonumber(redis.call('ZSCORE', queue.q .. 'flight', id))
  return due and due > queue.clock and due < NEVER_BACK
end

local function leave_group(queue, id, group)
  local key = queue.q .. 'g:' .. group
  local first = redis.call('ZRANGE', key, 0, 0)[1] == id
  redis.call('ZREM', key, id)
  if first then place_group(queue, group) end
end

-- Notifies waiting receivers that an item has left, because it may have blocked another one.
local function wake_readers(queue)
  if queue.woken then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
end

-- The name under which a removed item is remembered, so that it is recognised if it is sent again. It is the item's id
-- if the sender gave one. An item that a redrive policy brought is only recognised by moves. If two queues are each
-- other's dead-letter queue, the item may come back correctly. So an item that is moved on is forgotten.
local function recent_name(id, by_move)
  return by_move and id .. '>' or id
end

-- Members of an item. None if its key has the wrong type. Such an item must not stop a script that handles others.
local function members_of(queue, id, ...)
  local h = redis.pcall('HMGET', queue.q .. 'i:' .. id, ...)
  return h.err and {} or h
end

-- Standard queues: the group of an item, or nil. No item of a queue without groups is asked.
local function group_in(queue, id)
  return queue.grouped and members_of(queue, id, ITEM.group)[1] or nil
end

-- Takes an item out of all places where it may be. Only standard queues name its group.
local function leave_places(queue, id, group, places)
  local flew = false
  for _, place in ipairs(places) do
    local left = redis.call('ZREM', queue.q .. place, id) == 1
    flew = flew or left and place == 'flight'
  end
  if not group then return end
  leave_line(queue, id, group)
  if flew then count_busy(queue, group, -1) end
end

-- Hides an item from all receivers, for a batch of a redrive.
local function choose_item(queue, id)
  leave_places(queue, id, group_in(queue, id), { 'ready', 'flight', 'delayed' })
  redis.call('ZADD', queue.q .. 'chosen', queue.clock, id)
  if queue.fifo then hide_in_group(queue, id, NEVER_BACK) end
end

-- Makes an item visible that was chosen for a redrive, or on its way to another queue.
local function show_item(queue, id)
  if queue.fifo then return hide_in_group(queue, id, queue.clock) end
  join_line(queue, id, group_in(queue, id), queue.clock)
end

-- Removes an item in any state. Returns false if there is none. `moved`: the item moves to the dead-letter queue.
local function remove_item(queue, id, moved)
  local q = queue.q
  if redis.call('ZREM', q .. 'age', id) == 0 then return false end
  local given, reason, status, subscription, group, source = unpack(members_of(queue, id, ITEM.idGiven, ITEM.reason,
    ITEM.statusCode, ITEM.subscription, ITEM.group, ITEM.source))
  local grouped = queue.grouped and group or nil
  leave_places(queue, id, grouped, { 'ready', 'flight', 'delayed', 'moving', 'chosen' })
  if queue.letters then add_letter_bytes(queue, -ITEM_BYTES - #(members_of(queue, id, ITEM.payload)[1] or '')) end
  redis.call('DEL', q .. 'i:' .. id)
  if queue.fifo and group then leave_group(queue, id, group) end
  if given and not (moved and source) then redis.call('ZADD', q .. 'recent', queue.clock, recent_name(id, source)) end
  if reason and status and subscription then count_dead(queue, -1, reason, status, subscription) end
  if queue.grouped and redis.call('EXISTS', q .. 'age') == 0 then forget_groups(queue) end
  return true
end

-- Forgets ids after 10 minutes, and the oldest ids if there are too many.
local function trim_recent(queue)
  redis.call('ZREMRANGEBYSCORE', queue.q .. 'recent', '-inf', queue.clock - RECENT_MS)
  redis.call('ZREMRANGEBYRANK', queue.q .. 'recent', 0, -RECENT_MAX - 1)
end

-- Removes at most `max` items whose retention is over, and returns how many. Items that are chosen for a redrive are
-- left to it.
local function expire_items(queue, max)
  local old = redis.call('ZRANGEBYSCORE', queue.q .. 'age', '-inf', queue.clock - queue.retention, 'LIMIT', 0, max)
  local removed = 0
  for _, id in ipairs(old) do
    if not redis.call('ZSCORE', queue.q .. 'chosen', id) and remove_item(queue, id) then removed = removed + 1 end
  end
  return removed
end

-- An item in the form for readers: id, payload, sent, receive count, first received, source queue, group, deduplication
-- id, sequence number. Only the id of an item whose key has the wrong type.
local function item_of(queue, id)
  return { id, unpack(members_of(queue, id, ITEM.payload, ITEM.sentAt, ITEM.receiveCount, ITEM.firstReceivedAt,
    ITEM.source, ITEM.group, ITEM.deduplicationId, ITEM.sequence)) }
end
