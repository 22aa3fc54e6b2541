-- Hides messages in flight for some time from now; 0 makes them visible at once. A visible message is never hidden,
-- because another receive may be about to get it. In a standard queue the handle of any receive works, as in SQS. If
-- newest_only is set, only the handle of the newest receive works. In a FIFO queue the handle must be of the newest
-- receive.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg newest_only: flag, handles of earlier receives change nothing
-- @list changes
-- @item ms: number, from now
-- @item uid: text
-- @item id: text
-- @item digest: text
-- Returns false if there is no such queue, or for each handle one of these:
--   - 'ok'
--   - 'invalid': it belongs to another queue
--   - 'gone': the message is deleted, moves to another queue, or is not in flight
--   - 'expired' (FIFO): the message was received again, or the handle's time is over
--   - 'limit': the time would end more than 12 hours after the newest receive
-- @include when-full
-- @include queue
-- @include queue-fair-order
-- @include queue-handles
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local sooner = false

local function change_in_group(ms, id, digest)
  local h = members_of(queue, id, ITEM.digests, ITEM.receivedAt, ITEM.sentAt)
  if not h[3] then return 'gone' end
  if h[1] ~= digest or not in_flight(queue, id) then return 'expired' end
  if queue.clock + ms > (tonumber(h[2]) or queue.clock) + HIDDEN_MAX_MS then return 'limit' end
  hide_in_group(queue, id, queue.clock + ms)
  sooner = true
  return 'ok'
end

-- Chosen for a redrive, or on its way to the dead-letter queue.
local function leaving(queue, id)
  return redis.call('ZSCORE', queue.q .. 'chosen', id) or redis.call('ZSCORE', queue.q .. 'moving', id)
end

local function change(ms, id, digest)
  if queue.fifo then return change_in_group(ms, id, digest) end
  local h = members_of(queue, id, ITEM.digests, ITEM.receivedAt)
  local rank = receive_of(h[1], digest)
  local before = tonumber(redis.call('ZSCORE', queue.q .. 'flight', id)) or 0
  if not rank or rank > 1 and newest_only or before <= queue.clock or leaving(queue, id) then return 'gone' end
  if queue.clock + ms > (tonumber(h[2]) or queue.clock) + HIDDEN_MAX_MS then return 'limit' end
  if queue.clock + ms < before then sooner = true end
  if ms > 0 then
    redis.call('ZADD', queue.q .. 'flight', queue.clock + ms, id)
  else
    local group = group_in(queue, id)
    join_line(queue, id, group, queue.clock)
    redis.call('ZREM', queue.q .. 'flight', id)
    if group then count_busy(queue, group, -1) end
  end
  return 'ok'
end

local results = {}
for ms, uid, id, digest in changes() do
  results[#results + 1] = uid == queue.uid and change(ms, id, digest) or 'invalid'
end
if sooner then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return results
