-- Hides received messages for some time from now; 0 makes them visible at once. Also those whose time was over but
-- that nobody has received since, except in a FIFO queue.
-- KEYS[1] base
-- ARGV: arn, then ms and the handle's uid, id and digest of each
-- Returns false where there is no such queue, else for each handle: 'ok', 'invalid' (of another queue), 'gone'
--   (deleted, or received again since), 'expired' (FIFO: received again since, or its time is over), 'limit' (longer
--   than 12 hours after the receive).
-- @include now
-- @include when-full
-- @include queue
local HIDDEN_MAX_MS = 43200000
local base = KEYS[1]
local queue = open_queue(base, ARGV[1])
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local sooner = false

local function change_in_group(ms, id, digest)
  local h = redis.call('HMGET', queue.q .. 'i:' .. id, 'h', 't', 's')
  if not h[3] then return 'gone' end
  if h[1] ~= digest or not in_flight(queue, id) then return 'expired' end
  if queue.clock + ms > tonumber(h[2]) + HIDDEN_MAX_MS then return 'limit' end
  hide_in_group(queue, id, queue.clock + ms)
  sooner = true
  return 'ok'
end

local function change(ms, id, digest)
  if queue.fifo then return change_in_group(ms, id, digest) end
  local item = queue.q .. 'i:' .. id
  local h = redis.call('HMGET', item, 'h', 't')
  if h[1] ~= digest or redis.call('ZSCORE', queue.q .. 'held', id) then return 'gone' end
  if queue.clock + ms > tonumber(h[2]) + HIDDEN_MAX_MS then return 'limit' end
  local before = tonumber(redis.call('ZSCORE', queue.q .. 'flight', id)) or 0
  if queue.clock + ms < before then sooner = true end
  redis.call('ZREM', queue.q .. 'ready', id)
  redis.call('ZREM', queue.q .. 'flight', id)
  redis.call('ZADD', queue.q .. (ms > 0 and 'flight' or 'ready'), queue.clock + ms, id)
  return 'ok'
end

local results = {}
for i = 2, #ARGV, 4 do
  local ms, uid, id, digest = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  results[#results + 1] = uid == queue.uid and change(ms, id, digest) or 'invalid'
end
if sooner then redis.call('PUBLISH', 'ft:wake:queues', queue.arn) end
return results
