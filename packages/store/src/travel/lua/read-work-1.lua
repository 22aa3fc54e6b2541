-- Reads the work that is due next in all shards, and the numbers of jobs. It writes nothing.
-- @key travel: of the stack
-- @rest names: prefixes of all shards, which end in a colon, and those of BullMQ's queues
-- Returns epoch ms, ms by which the stack's time is ahead of Redis's clock, the first lanes and logs with their times
-- by shard, for each of BullMQ's queues its name, the numbers of waiting and active jobs and the first delayed one, and
-- the work of sweeps with its times
-- @include now
-- @include lane-next
-- @include lane-return
-- @include lane-state
local FIRST = '19'
-- Paused lanes of a shard whose ages are read when the time is moved. Past it: a sweep may find the age of the others
-- up to six hours late.
local PAUSED_LANES_MAX = 1000
-- Deliveries of a waiting set whose ages are read when the time is moved. Past it: the same.
local AGES_MAX = 1000
local heads, queues, swept, now, first = {}, {}, {}, 0, nil

local function add_swept(what, at)
  swept[#swept + 1], swept[#swept + 2] = what, string.format('%.0f', at)
end

-- When the first delivery of a waiting set was published. Those that are dead already wait for their queue, and
-- redriven ones are never too old.
local function oldest_in(base, id, set)
  local oldest
  for _, delivery in ipairs(redis.call('ZRANGE', base .. set .. ':' .. id, 0, AGES_MAX - 1)) do
    local is_dead_already = is_dead(redis.call('HGET', base .. 'state:' .. id, delivery))
    if #delivery == 16 and not is_dead_already then oldest = earlier(oldest, published_at(delivery)) end
  end
  return oldest
end

-- When a sweep finds the first delivery of a lane too old.
local function add_expiry(base, id)
  local h = redis.call('HMGET', base .. 'lane:' .. id, LANE.slice, LANE.floor)
  local retention = h[1] and slice_of(base, h[1]).ret
  local oldest = earlier(oldest_in(base, id, 'fresh'), oldest_in(base, id, 'retry'))
  if not retention or not oldest then return end
  local kept_seconds = math.max(retention, tonumber(h[2]) or 0)
  add_swept('expiry ' .. id, oldest + clock_ahead + kept_seconds * 1000 + 1)
end

-- Paused lanes are in no line. Leases of queues and tokens of subscriptions end without one, too.
local function read_swept(base)
  local paused = redis.call('SMEMBERS', base .. 'paused')
  for i = 1, math.min(#paused, PAUSED_LANES_MAX) do add_expiry(base, paused[i]) end
  for what, key in pairs({ lease = 'queues:leased', token = 'expiries' }) do
    local head = redis.call('ZRANGE', base .. key, '0', '0', 'WITHSCORES')
    if head[1] then add_swept(what .. ' ' .. head[1], tonumber(head[2])) end
  end
end

local function read_shard(base)
  for _, line in ipairs({ 'due', 'unproven' }) do
    local found = redis.call('ZRANGE', base .. line, 0, FIRST, 'WITHSCORES')
    for i, value in ipairs(found) do
      heads[#heads + 1] = value
      -- A throttle or a long delay may keep a lane beyond the age of its deliveries. Logs have a colon.
      if i % 2 == 1 and not string.find(value, ':', 1, true) then add_expiry(base, value) end
    end
  end
end

local function read_queue(name)
  local waiting = redis.call('LLEN', name .. ':wait') + redis.call('LLEN', name .. ':paused')
    + redis.call('ZCARD', name .. ':prioritized')
  local delayed = redis.call('ZRANGE', name .. ':delayed', 0, 0, 'WITHSCORES')[2]
  for _, value in ipairs({ name, waiting, redis.call('LLEN', name .. ':active'), delayed or '' }) do
    queues[#queues + 1] = value
  end
end

if redis.call('EXISTS', travel) == 0 then return redis.error_reply('the time of this data cannot be moved') end
for i = names_at, #ARGV do
  if string.sub(ARGV[i], -1) == ':' then
    first = first or ARGV[i]
    now = now_ms(ARGV[i])
    read_shard(ARGV[i])
    read_swept(ARGV[i])
  else
    read_queue(ARGV[i])
  end
end
now = now_ms(first)
local offset = redis.call('GET', first .. 'skew') or '0'
return { string.format('%.0f', now), offset, heads, queues, swept }
