-- Declares a waiting delivery dead, and makes it due now. The next take appends it to its dead-letter queue and settles
-- it like every dead delivery, so a crash in between neither loses nor repeats it. In a FIFO lane the next delivery of
-- its group then follows.
-- @key base: of the shard
-- @arg shard: digits
-- @arg id: text, of the subscription
-- @arg message: text, 16 bytes of the message's id
-- Returns what happened, then the earliest due time or '', wakes published (lane-wake). What: 'done', 'missing',
--   'inFlight' (an attempt is under way) or 'noQueue' (the lane has no dead-letter queue)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-state
-- Deliveries of each set that are looked at for one that was redriven, whose name is longer. Past it: it is not found.
local ASIDE_LOOKED_AT_MAX = 1000
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local lane = lane_of(base, id, now, true)

local function find()
  local sets = { 'fresh:', 'retry:', 'lease:' }
  for _, set in ipairs(sets) do
    if redis.call('ZSCORE', base .. set .. id, message) then return set, message end
  end
  for _, set in ipairs(sets) do
    for _, delivery in ipairs(redis.call('ZRANGE', base .. set .. id, 0, ASIDE_LOOKED_AT_MAX - 1)) do
      if string.sub(delivery, 1, #message) == message then return set, delivery end
    end
  end
end

local function set_aside()
  if not lane or lane.deleted then return 'missing' end
  if not lane.dlq then return 'noQueue' end
  local set, delivery = find()
  if not set then return 'missing' end
  if set == 'lease:' then return 'inFlight' end
  local state = split_state(redis.call('HGET', base .. 'state:' .. id, delivery))
  if not is_dead(state) then set_state(base, id, delivery, dead_because('setAside', state)) end
  redis.call('ZREM', base .. 'fresh:' .. id, delivery)
  redis.call('ZADD', base .. 'retry:' .. id, text(now), delivery)
  return 'done'
end

local what = set_aside()
lane_next(base, id, now, lane)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
return { what, due and text(due) or '', woke }
