-- Gives back messages that a receive has taken and cannot return. The receive does not count for them, and they stay
-- hidden for some time, so that the messages behind them can be received.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg ms: number, how long they stay hidden
-- @arg attempt: text, id of the receive's attempt, or ''
-- @list taken
-- @item id: text
-- @item digest: text, of the secret that this receive gave
-- Returns false if there is no such queue, or how many messages were given back. Messages that have been received,
-- moved or deleted since are left alone.
-- @include when-full
-- @include queue
-- @include queue-handles
-- @include queue-attempts
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local due, sooner, returned = queue.clock + ms, false, 0

local function hide(id)
  local before = tonumber(redis.call('ZSCORE', queue.q .. 'flight', id))
  -- Another receive has made it visible since.
  if not before then return end
  sooner = sooner or due < before
  if queue.fifo then hide_in_group(queue, id, due) else redis.call('ZADD', queue.q .. 'flight', due, id) end
end

local function give_back(id, digest)
  local h = members_of(queue, id, ITEM.digests, ITEM.receiveCount)
  if receive_of(h[1], digest) ~= 1 then return end
  for _, place in ipairs({ 'chosen', 'moving' }) do
    if redis.call('ZSCORE', queue.q .. place, id) then return end
  end
  local item, count = queue.q .. 'i:' .. id, tonumber(h[2]) - 1
  redis.call('HSET', item, ITEM.receiveCount, count, ITEM.digests, string.sub(h[1], DIGEST_BYTES + 1))
  if count == 0 then redis.call('HDEL', item, ITEM.firstReceivedAt) end
  if attempt ~= '' then forget_receive(queue, attempt, id) end
  hide(id)
  returned = returned + 1
end

for id, digest in taken() do give_back(id, digest) end
if sooner then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return returned
