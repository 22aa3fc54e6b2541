-- Counts the deliveries of a shard that could be attempted now if a worker had room. Lanes that a pause, a throttle, an
-- open circuit or a broken credential holds back are not in a line, or are due later.
-- @key base: of the shard
-- @arg lanes_max: number, members of `due` that are read; each of the others counts as one delivery
-- Returns the number
-- @include now
-- @include lane-next
-- @include lane-try
-- @include fifo-log
local now = now_ms(base)

-- Deliveries that the throttle would have let go since the lane became due.
local function let_go(id, lane, since)
  local tat = math.max(tonumber(redis.call('HGET', base .. 'lane:' .. id, LANE.tat)) or 0, since)
  return tat <= now and math.floor((now - tat) * lane.rate / 1000) + 1 or 0
end

local function due_of_lane(id, since)
  local lane = lane_of(base, id, now)
  if not lane or lane.deleted or lane.paused then return 0 end
  local waiting = redis.call('ZCOUNT', base .. 'fresh:' .. id, '-inf', text(now))
  local no_retries = lane.pace and lane.pace.quota and lane.pace.quota < RETRY_QUOTA_LEAST and lane.pace.next > now
  if not no_retries then
    waiting = waiting + redis.call('ZCOUNT', base .. 'retry:' .. id, '-inf', text(now))
      + redis.call('ZCOUNT', base .. 'lease:' .. id, '-inf', '(' .. text((now + 1) * LEASE_UNIT))
  end
  if lane.pace and lane.pace.probe_at then return math.min(waiting, lane.pace.probe_at <= now and 1 or 0) end
  return lane.rate and math.min(waiting, let_go(id, lane, since)) or waiting
end

-- A log has one reader at a time, so it counts as one.
local function due_of(member, since)
  return log_in_due(base, member) and 1 or due_of_lane(member, since)
end

local members = redis.call('ZRANGEBYSCORE', base .. 'due', '-inf', text(now), 'WITHSCORES', 'LIMIT', '0',
  text(lanes_max))
local others = redis.call('ZCOUNT', base .. 'due', '-inf', text(now)) - #members / 2
-- A lane of an unproven endpoint gets one claim at a time, so it counts as one.
local total = others + redis.call('ZCOUNT', base .. 'unproven', '-inf', text(now))
for i = 1, #members, 2 do
  local works, due = try(due_of, members[i], tonumber(members[i + 1]))
  if works then total = total + due end
end
return total
