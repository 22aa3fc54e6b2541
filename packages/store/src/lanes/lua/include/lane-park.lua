-- Parks one delivery. Its body is stored first, because a delivery in a lane must have one. If the data under the
-- message's key is unreadable, the delivery therefore fails and leaves nothing behind. The number of parked deliveries
-- that refer to a body, and each lane's next due time, are written at the end. `set` is fresh, retry or lease, and
-- `score` the due time or the lease.
-- @include lane-next
-- @include lane-body
-- @include lane-try
local lanes = {}
local added = {}
local topics = {}
-- Position in ARGV of the first message's id. Each id is followed by its body and its group or ''. The script sets it
-- before it parks.
local bodies_at
-- Messages whose bodies this script has stored.
local stored_bodies = {}

local MESSAGE_VALUES = 3

local function body_key(base, message)
  return base .. 'msg:' .. ARGV[bodies_at + MESSAGE_VALUES * (message - 1)]
end

-- Stores the body with one reference. finish_park corrects the number.
local function hold_body(base, id, message)
  if added[message] then return end
  local key, topic = body_key(base, message), string.match(lanes[id].sid, '^[^.]*')
  redis.call('HINCRBY', key, BODY.references, 1)
  added[message], topics[message] = 0, topic
  local at = bodies_at + MESSAGE_VALUES * (message - 1)
  if redis.call('HSETNX', key, BODY.json, ARGV[at + 1]) == 1 then
    local group = ARGV[at + 2]
    if group == '' then
      redis.call('HSET', key, BODY.topic, topic)
    else
      redis.call('HSET', key, BODY.topic, topic, BODY.group, group)
    end
    stored_bodies[message] = true
  end
end

local function is_lane_open(base, id, now)
  if lanes[id] == nil then lanes[id] = lane_of(base, id, now) or false end
  local lane = lanes[id]
  return lane and not lane.deleted
end

-- Makes an open lane a FIFO lane. `mark`: LANE.fifo, or '' if the caller does not know it.
local function mark_fifo(base, id, mark)
  if mark == '' or lanes[id].fifo == mark then return end
  lanes[id].fifo = mark
  redis.call('HSET', base .. 'lane:' .. id, LANE.fifo, mark)
end

-- Whether the delivery waits or is in flight already. Then it is not parked again.
local function is_present(base, id, delivery)
  return redis.call('ZSCORE', base .. 'fresh:' .. id, delivery)
    or redis.call('ZSCORE', base .. 'retry:' .. id, delivery)
    or redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
end

-- Counts a parked delivery that refers to the message.
local function refer_to(message)
  added[message] = added[message] + 1
end

local function put_in_set(base, id, delivery, set, score)
  redis.call('ZADD', base .. set .. ':' .. id, text(score), delivery)
  lanes[id].touched = true
end

-- The caller has called hold_body.
local function put_in_lane(base, id, delivery, message, set, score)
  put_in_set(base, id, delivery, set, score)
  refer_to(message)
end

-- `n`: parked deliveries that refer to the message. If there are none, the body that was stored for them is deleted.
local function count_references(base, message, n)
  local key = body_key(base, message)
  if n ~= 1 and redis.call('HINCRBY', key, BODY.references, n - 1) <= 0 then redis.call('DEL', key) end
  local bytes = n > 0 and stored_bodies[message] and #ARGV[bodies_at + MESSAGE_VALUES * (message - 1) + 1] or 0
  if n > 0 then add_topic_bytes(base, topics[message], n * ENTRY_BYTES + bytes) end
end

local function finish_park(base, now)
  for message, n in pairs(added) do
    count_references(base, message, n)
  end
  for id, lane in pairs(lanes) do
    if lane and lane.unreadable then
      try(lane_next, base, id, now, lane)
    elseif lane and lane.touched then
      lane_next(base, id, now, lane)
    end
  end
end
