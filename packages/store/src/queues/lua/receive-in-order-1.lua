-- Receives messages of a FIFO queue. A message can be received if it is visible and no earlier one of its group is in
-- flight. The group that has waited longest comes first. Several of its messages may come before the next group. One
-- call returns at most the wanted number of messages, and makes at most as many moves to the dead-letter queue. Moves
-- are as in receive-messages. A group waits until its move is settled.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg messages_max: number
-- @arg visibility_ms: number?, nil: the queue's own
-- @arg in_flight_max: number
-- @arg proofs: text, 32 bytes per message: the secret of its handle and its digest
-- @arg attempt: text, id, or ''
-- @arg is_first: flag, the attempt begins
-- @arg push_consumer_text: text, the push consumer that receives (push-leases.lua), or ''
-- Returns false if there is no such queue, 0 if the attempt's messages have been changed since, or a list:
--   - uid
--   - ms until the next message becomes visible (-1: never)
--   - dead-letter queue
--   - messages, with the secrets of their handles
--   - moves, each a list of items (queue.lua)
--   - 0
--   - why a consumer may not receive now
-- @include when-full
-- @include queue
-- @include queue-groups
-- @include queue-take
-- @include queue-attempts
-- @include push-leases
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local consumer, refused, wait_ms = open_push_consumer(queue, push_consumer_text)
if refused then return { queue.uid, wait_ms, queue.target, {}, {}, 0, refused } end
local q, until_ms = queue.q, hidden_until(queue, visibility_ms, consumer)
if attempt ~= '' and is_first then
  local kind, again = repeat_receive(queue, attempt, until_ms)
  if kind == 'changed' then return 0 end
  if kind == 'same' then return { queue.uid, next_in_order(queue), queue.target, again, {}, 0 } end
end
expire_items(queue, EXPIRED_MAX)
local messages, moves = {}, overdue_moves(queue, messages_max)

-- Returns the time at which it comes back.
local function hide(id)
  -- Differences of a thousandth of a ms keep the order of groups that become visible at the same time.
  local due = until_ms - (messages_max - #messages) / 1000
  redis.call('ZADD', q .. 'flight', due, id)
  return due
end

local function receive(id, count)
  local item = q .. 'i:' .. id
  local proof = string.sub(proofs, #messages * PROOF_BYTES + 1, (#messages + 1) * PROOF_BYTES)
  local due = hide(id)
  redis.call('HSETNX', item, ITEM.firstReceivedAt, queue.now)
  redis.call('HSET', item, ITEM.receiveCount, count + 1, ITEM.digests, digest_of(proof), ITEM.receivedAt, queue.clock)
  redis.call('HDEL', item, ITEM.again)
  if attempt ~= '' then note_receive(queue, attempt, id, proof, due) end
  messages[#messages + 1] = item_of(queue, id)
  messages[#messages][NUMBER.SECRET_AT] = secret_of(proof)
end

-- Returns false if no item behind this one in its group can be taken.
local function take(group, id, moving)
  local due, age = tonumber(redis.call('ZSCORE', q .. 'flight', id)), tonumber(redis.call('ZSCORE', q .. 'age', id))
  if not age then return redis.call('ZREM', q .. 'g:' .. group, id) == 1 end
  if due and due > queue.clock then return false end
  if age <= queue.clock - queue.retention then return remove_item(queue, id) end
  if not due and math.floor(age) + queue.delay > queue.clock then return false end
  local h = members_of(queue, id, ITEM.receiveCount, ITEM.again, ITEM.countBefore)
  if not is_countable(h[1]) then
    if moving then return false end
    hide(id)
    messages[#messages + 1] = item_of(queue, id)
  elseif used_up(queue, h[1], h[3], h[2]) then
    if #moves >= messages_max then return false end
    moves[#moves + 1] = start_move(queue, id, #moves)
  elseif not moving then
    receive(id, tonumber(h[1]))
  end
  return true
end

local free = in_flight_max - flying(queue)
local wanted = math.max(math.min(messages_max, free), 0)

local function take_group(group)
  local before = #moves
  local last = wanted - #messages + messages_max - #moves - 1
  for _, id in ipairs(redis.call('ZRANGE', q .. 'g:' .. group, 0, last)) do
    if #messages >= wanted or not take(group, id, #moves > before) then break end
  end
  place_group(queue, group)
end

if wanted > 0 then
  for _, group in ipairs(ready_groups(queue, wanted + messages_max)) do
    if #messages >= wanted then break end
    take_group(group)
  end
end
trim_recent(queue)
if consumer and #messages > 0 then hold_push_lease(queue, consumer.name, consumer.batch) end
return { queue.uid, next_in_order(queue, free <= #messages), queue.target, messages, moves, 0 }
