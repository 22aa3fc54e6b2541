-- Claims deliveries of a lane. `take` is the state of the whole script: base, now, left (claims it may still make),
-- lease_ms, lanes, expired and followed (what it returns), behind_left (how many followers it may still list), lead_ms.
-- @include now
-- @include lane-return
-- @include lane-group
-- @include lane-state
-- @include lane-next
-- @include lane-throttle
-- @include lane-lease
-- @include lane-count
-- @include lane-discard
-- Deliveries of a lane that one take checks for their age. Past it: the next take checks further ones.
local EXPIRE_MAX = 64
-- Deliveries behind a FIFO head that may be sent with it. Past it: they wait.
local FOLLOWERS_MAX = 50
-- Bodies of a FIFO head and those sent with it. Past it: further ones wait. Counts stored bodies, the head's included.
-- A worker reads a head and its followers at once and sends no more bytes than this.
local FOLLOWED_BYTES_MAX = 1048576

-- How long a lane keeps deliveries. Called only for deliveries that are older than the topic's retention.
local function kept_ms(take, id, lane)
  if not lane.kept_ms then
    local floor = redis.call('HGET', take.base .. 'lane:' .. id, LANE.floor)
    lane.kept_ms = math.max(lane.slice.ret, tonumber(floor or 0)) * 1000
  end
  return lane.kept_ms
end

-- Whether a delivery is too old, by the time in its id, which is Redis's time as publishers see it. A redriven delivery
-- (16 bytes and a generation) is never too old, because it was brought back on purpose.
local function is_old(take, id, lane, delivery)
  if not lane.slice.ret or #delivery ~= 16 then return false end
  local age = take.now - clock_ahead - published_at(delivery)
  return age > lane.slice.ret * 1000 and age > kept_ms(take, id, lane)
end

local function body_bytes(base, delivery)
  return redis.call('HSTRLEN', base .. 'msg:' .. string.sub(delivery, 1, 16), BODY.json)
end

-- Lists a claimed head and its followers, which may be sent together with it. The followers stay in their list. Only
-- the head has a lease, and its result is settled for all of them.
local function add_followers(take, id, lane, head)
  local row, bytes = { id, head }, body_bytes(take.base, head)
  for _, delivery in ipairs(behind(take.base, id, head, math.min(FOLLOWERS_MAX, take.behind_left))) do
    bytes = bytes + body_bytes(take.base, delivery)
    if is_old(take, id, lane, delivery) or bytes > FOLLOWED_BYTES_MAX then break end
    row[#row + 1] = delivery
  end
  take.behind_left = take.behind_left - (#row - 2)
  if #row > 2 then take.followed[#take.followed + 1] = row end
end

local function lease_end(take, lane)
  local ahead_ms = (lane.rate or lane.groups) and trip_ahead_ms(take.base) or 0
  return take.now + ahead_ms + (lane.fifo == '2' and math.min(NUMBER.FOLLOWED_LEASE_MS, take.lease_ms) or take.lease_ms)
end

-- Moves deliveries in flight, and lists delivery, lease, send time and state of each. lane.leased becomes the first
-- lease end. Only attempts use send times of the throttle.
local function claim(take, id, lane, set, ids, states, claims)
  if #ids == 0 then return end
  local leases, n, till = {}, #claims, lease_end(take, lane)
  for i, delivery in ipairs(ids) do
    local state, send, chosen = states and states[i] or '', '', lane.sends and lane.sends[delivery]
    if chosen then
      send = text(next_send_time(lane, chosen.group, chosen.at))
    elseif lane.rate and not is_dead(state) then
      send = text(next_send_time(lane))
    end
    local lease = new_lease(take.base, till, lane.fifo)
    if lane.fifo == '2' and send == '' and not is_dead(state) then add_followers(take, id, lane, delivery) end
    local name = text(lease)
    leases[2 * i - 1], leases[2 * i] = name, delivery
    claims[n + 1], claims[n + 2], claims[n + 3], claims[n + 4] = delivery, name, send, state
    n = n + 4
  end
  lane.leased = earlier(lane.leased, till)
  redis.call('ZREM', take.base .. set .. ':' .. id, unpack(ids))
  redis.call('ZADD', take.base .. 'lease:' .. id, unpack(leases))
  take.left = take.left - #ids
end

local function states_of(base, id, ids)
  if #ids == 0 then return {} end
  local states = redis.call('HMGET', base .. 'state:' .. id, unpack(ids))
  for i, state in ipairs(states) do
    if state then states[i] = split_state(state) end
  end
  return states
end

-- Expires deliveries behind a head, at most EXPIRE_MAX, and returns how many. If the lane has a dead-letter queue they
-- stay. Each of these becomes the head later, and then goes to the queue in order.
local function expire_behind(take, id, lane, head)
  if not lane.fifo or lane.dlq then return 0 end
  local n = 0
  for _, delivery in ipairs(behind(take.base, id, head, EXPIRE_MAX)) do
    if not is_old(take, id, lane, delivery) then break end
    n = n + 1
    take.expired[#take.expired + 1] = id
    take.expired[#take.expired + 1] = delivery
  end
  pop_behind(take.base, id, head, n)
  count('expired', n)
  return n
end

-- The first EXPIRE_MAX deliveries of a waiting set, and which of them are not due yet.
local function first_of_set(take, id, set)
  local ids, later = {}, {}
  local flat = redis.call('ZRANGE', take.base .. set .. ':' .. id, 0, EXPIRE_MAX - 1, 'WITHSCORES')
  for i = 1, #flat, 2 do
    ids[#ids + 1] = flat[i]
    later[#ids] = tonumber(flat[i + 1]) > take.now
  end
  return ids, later
end

-- Expires the first EXPIRE_MAX deliveries of a waiting set. Old ones are removed and counted, or claimed as dead if the
-- lane has a dead-letter queue. Those declared dead already are claimed only when they are due: while their queue
-- cannot be reached, they must not be tried all the time. Returns how many were claimed, and whether there may be more
-- to do.
local function expire_set(take, id, lane, set, claims, max)
  local base = take.base
  local ids, later = first_of_set(take, id, set)
  local states = states_of(base, id, ids)
  local gone, dead, dead_states, has_more = {}, {}, {}, false
  for i, delivery in ipairs(ids) do
    local state = states[i]
    local is_dead_already = is_dead(state)
    local old = not is_dead_already and is_old(take, id, lane, delivery)
    local due = is_dead_already and not later[i]
    has_more = expire_behind(take, id, lane, delivery) == EXPIRE_MAX or has_more
    if old and not lane.dlq then
      gone[#gone + 1] = delivery
      take.expired[#take.expired + 1] = id
      take.expired[#take.expired + 1] = delivery
    elseif (old or due) and #dead < max then
      if old then
        state = dead_because('expired', state)
        set_state(base, id, delivery, state)
      end
      dead[#dead + 1] = delivery
      dead_states[#dead_states + 1] = state
    elseif old or due then
      has_more = true
    end
  end
  has_more = discard(base, id, set, gone, lane.fifo, take.now) or has_more
  count('expired', #gone)
  claim(take, id, lane, set, dead, dead_states, claims)
  return #dead, has_more or #gone + #dead == EXPIRE_MAX
end

-- Expires both waiting sets, with at most `max` claims. Returns the same.
local function expire_lane(take, id, lane, claims, max)
  local fresh, more = expire_set(take, id, lane, 'fresh', claims, max)
  local retries, more_retries = expire_set(take, id, lane, 'retry', claims, max - fresh)
  return fresh + retries, more or more_retries
end
