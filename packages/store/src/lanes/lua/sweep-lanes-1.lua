-- One step over the shard's lanes, paused ones included. Expired deliveries are removed and counted, or claimed as dead
-- if the lane has a dead-letter queue. Times that lie ahead because the clock was set back are corrected.
-- @key base: of the shard
-- @arg shard: digits
-- @arg index: text, paused, due or unproven
-- @arg cursor: text
-- @arg deliveries_max: number
-- @arg lease_ms: number
-- Returns as take-deliveries up to expired, then the cursor, 1 if this step is to be made again before the next one,
-- and
--         lanes with unreadable data (each: name, error)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-return
-- @include lane-claim
-- @include lane-group
-- @include group-rate
-- @include lane-whole
-- @include fifo-log
local LANES_PER_STEP = 32
-- Members of hashes of groups that one step looks at, in all its lanes together, and in one of them.
local GROUPS_LOOKED_AT = 640
local LANE_GROUPS_LOOKED_AT = 200
-- Dead deliveries that one script of the sweep claims. Past it: the next script continues.
local SWEPT_DELIVERIES_MAX = 1000
-- How far ahead the end of a lease may lie. Past it: the sweep returns the delivery, as the clock was set back.
local LEASE_AHEAD_MAX_MS = 600000
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local take = { base = base, now = now, lease_ms = lease_ms, lanes = {}, expired = {} }
take.left = math.min(deliveries_max, SWEPT_DELIVERIES_MAX)
local unfinished = false
local scan = index == 'paused' and 'SSCAN' or 'ZSCAN'
local step = redis.call(scan, base .. index, cursor, 'COUNT', LANES_PER_STEP)
local step_size = index == 'paused' and 1 or 2
local groups_looked_at = math.min(LANE_GROUPS_LOOKED_AT, math.ceil(GROUPS_LOOKED_AT * step_size / math.max(#step[2], 1)))

-- Fresh deliveries are due when parked, and leases are short. Later times were written before the clock was set back.
local function correct_times(id)
  local key, ahead = base .. 'fresh:' .. id, '(' .. now + NUMBER.STORED_AHEAD_MAX_MS
  local ids = redis.call('ZRANGEBYSCORE', key, ahead, '(' .. text(SHELVED_FROM), 'LIMIT', 0, RETURNS_MAX)
  for _, delivery in ipairs(ids) do
    redis.call('ZADD', key, now, delivery)
  end
  local returned = return_leases(base, id, now + LEASE_AHEAD_MAX_MS, math.huge, now)
  return #ids == RETURNS_MAX or returned == RETURNS_MAX
end

-- Looks at some groups of the lane. Returns whether one has no head in the lane's sets.
local function is_torn(id)
  local key = base .. 'groups:' .. id
  if redis.call('EXISTS', key) == 0 then return false end
  local flat = redis.call('HRANDFIELD', key, groups_looked_at, 'WITHVALUES')
  for i = 1, #flat, 2 do
    local is_group, name = string.sub(flat[i], 1, 1) == 'g', string.sub(flat[i], 2)
    local head, group = is_group and flat[i + 1] or name, is_group and name or flat[i + 1]
    if not is_in_sets(base, id, head) or group_of(base, id, head) ~= group then return true end
  end
  return false
end

local function sweep_lane(id)
  local lane = lane_of(base, id, now, true)
  if index == 'paused' then redis.call('SREM', base .. 'paused', id) end
  if lane and not lane.deleted then
    local returned = return_leases(base, id, 0, now, now)
    local claims = { id, lane.sid, lane.slice.rev, lane.proven and '1' or '' }
    local function is_too_old(delivery) return is_old(take, id, lane, delivery) end
    local brought = lane.groups and by_group.bring_down_old(take, id, lane, is_too_old) or 0
    local _, more = expire_lane(take, id, lane, claims, take.left)
    if #claims > 4 then take.lanes[#take.lanes + 1] = claims end
    if is_torn(id) then mend_groups(base, id, now) end
    unfinished = correct_times(id) or more or brought > 0 or returned == RETURNS_MAX or unfinished
  end
  lane_next(base, id, now, lane)
end

local unreadable = {}

local function try_lane(id)
  local works, message = try_whole(sweep_lane, id)
  if works then return end
  unreadable[#unreadable + 1] = { id, message }
  if index == 'paused' then redis.call('SADD', base .. 'paused', id) end
end

-- A reader's lease is short, and the delay of an isolated group is bounded. Later times are wrong too.
local function sweep_log(log, due)
  local ahead_max = log.group and NUMBER.ISOLATION_MS_MAX or LOG_LEASE_MS
  if due > now + ahead_max + NUMBER.STORED_AHEAD_MAX_MS then set_log_due(base, log, now) end
end

for i = 1, #step[2], step_size do
  local log = log_in_due(base, step[2][i])
  if log then sweep_log(log, tonumber(step[2][i + 1])) else try_lane(step[2][i]) end
end
save_leases(base)
write_drops(base)
write_counts(base)
local due = wake_if_earlier(base, shard, before, now, first_unproven)
return { now, due and text(due) or '', 0, take.lanes, take.expired, step[1], unfinished and 1 or 0, unreadable }
