-- Parks one delivery. Bodies are stored at the end, with the number of parked deliveries that refer to them. Each
-- lane's next due time is also written at the end. `set` is fresh, retry or lease, and `score` the due time or the
-- lease.
-- @include lane-next
-- @include lane-body
-- @include lane-try
local lanes = {}
local added = {}
local topics = {}

local function open_lane(base, id, now)
  if lanes[id] == nil then lanes[id] = lane_of(base, id, now) or false end
  local lane = lanes[id]
  return lane and not lane.gone
end

-- Whether the delivery waits or is in flight already. Then it is not parked again.
local function is_present(base, id, delivery)
  return redis.call('ZSCORE', base .. 'fresh:' .. id, delivery)
    or redis.call('ZSCORE', base .. 'retry:' .. id, delivery)
    or redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
end

-- Counts a delivery that refers to the message.
local function refer_to(id, message)
  added[message] = (added[message] or 0) + 1
  topics[message] = string.match(lanes[id].sid, '^[^.]*')
end

local function put_in_set(base, id, delivery, set, score)
  redis.call('ZADD', base .. set .. ':' .. id, text(score), delivery)
  lanes[id].touched = true
end

local function put_in_lane(base, id, delivery, message, set, score)
  put_in_set(base, id, delivery, set, score)
  refer_to(id, message)
end

-- `bodies`: position in ARGV of the first message's id; each id is followed by its body.
local function finish_park(base, now, bodies)
  for message, n in pairs(added) do
    keep_body(base, ARGV[bodies + 2 * (message - 1)], ARGV[bodies + 2 * message - 1], n, topics[message])
  end
  for id, lane in pairs(lanes) do
    if lane and lane.corrupt then
      try(lane_next, base, id, now, lane)
    elseif lane and lane.touched then
      lane_next(base, id, now, lane)
    end
  end
end
