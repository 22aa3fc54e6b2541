-- FIFO lanes. Only the first delivery of each group, its head, is in the lane's sets, like any delivery. The others
-- wait in a list, in order. Hash groups:<lane>: 'g<group>' → head and 'd<head>' → group. A group with anything behind
-- has a head, so a lane whose sets are empty is empty.
-- @include lane-next
-- @include lane-body
-- @include lane-redriven
local function behind_key(base, id, group)
  return base .. 'behind:' .. id .. ':' .. group
end

local function group_of(base, id, head)
  return redis.call('HGET', base .. 'groups:' .. id, 'd' .. head)
end

local function count_behind(base, id, n)
  if n ~= 0 then redis.call('HINCRBY', base .. 'lane:' .. id, LANE.behind, n) end
end

local function is_in_sets(base, id, delivery)
  for _, set in ipairs({ 'fresh:', 'retry:', 'lease:' }) do
    if redis.call('ZSCORE', base .. set .. id, delivery) then return true end
  end
  return false
end

-- Makes the first delivery behind a group's lost or leaving head the head. It becomes due now, and not at its
-- publishing time, so that a group with a long backlog does not go before all others. Returns whether there is one.
local function follow_head(base, id, group, now)
  local groups, next = base .. 'groups:' .. id, redis.call('LPOP', behind_key(base, id, group))
  if not next then
    redis.call('HDEL', groups, 'g' .. group)
    return false
  end
  redis.call('HSET', groups, 'g' .. group, next, 'd' .. next, group)
  redis.call('ZADD', base .. 'fresh:' .. id, text(now), next)
  count_behind(base, id, -1)
  return true
end

-- Mends groups after corruption of their heads, so that no group stands still: its head is in no set any more, or the
-- hash has lost or changed one of the two members about it. `leaving`: a delivery that is leaving the lane. Returns
-- true if a group got a new head. Reads the whole hash, so callers first make sure that something is wrong.
local function mend_groups(base, id, now, leaving)
  local groups, heads, owners, followed = base .. 'groups:' .. id, {}, {}, false
  local flat = redis.call('HGETALL', groups)
  for i = 1, #flat, 2 do
    local kind, name = string.sub(flat[i], 1, 1), string.sub(flat[i], 2)
    if kind == 'g' then heads[name] = flat[i + 1] else owners[name] = flat[i + 1] end
  end
  local alive = {}
  for delivery, group in pairs(owners) do
    heads[group] = heads[group] or delivery
    if delivery ~= leaving and is_in_sets(base, id, delivery) then
      alive[group] = delivery
    else
      redis.call('HDEL', groups, 'd' .. delivery)
    end
  end
  for group, head in pairs(heads) do
    if alive[group] then
      redis.call('HSET', groups, 'g' .. group, alive[group])
    elseif head ~= leaving and is_in_sets(base, id, head) then
      redis.call('HSET', groups, 'd' .. head, group)
    else
      followed = follow_head(base, id, group, now) or followed
    end
  end
  return followed
end

-- lane_next for scripts after which a FIFO lane may seem empty, although deliveries wait behind heads that were lost.
local function lane_next_mending(base, id, now, lane, not_before)
  local due = lane_next(base, id, now, lane, not_before)
  if due or redis.call('EXISTS', base .. 'groups:' .. id) == 0 then return due end
  for _, set in ipairs({ 'fresh:', 'retry:', 'lease:' }) do
    if redis.call('EXISTS', base .. set .. id) == 1 then return due end
  end
  return mend_groups(base, id, now) and lane_next(base, id, now, lane) or nil
end

-- Whether the group's head was checked by this script.
local checked = {}

local function has_valid_head(base, id, group)
  local name = id .. group
  if checked[name] then return true end
  checked[name] = true
  local head = redis.call('HGET', base .. 'groups:' .. id, 'g' .. group)
  return head and is_in_sets(base, id, head) and group_of(base, id, head) == group
end

-- Returns true if the delivery is now its group's head. The caller must then put it into a set. Otherwise it waits
-- behind the head.
local function join_group(base, id, group, delivery, now)
  local groups = base .. 'groups:' .. id
  local is_first = redis.call('HSETNX', groups, 'g' .. group, delivery) == 1
  if is_first and redis.call('EXISTS', behind_key(base, id, group)) == 0 then
    redis.call('HSET', groups, 'd' .. delivery, group)
    return true
  end
  redis.call('RPUSH', behind_key(base, id, group), delivery)
  count_behind(base, id, 1)
  if not has_valid_head(base, id, group) then mend_groups(base, id, now) end
  return false
end

-- Called when a delivery leaves the lane permanently. If it is a head, the next delivery of its group becomes due now,
-- and true is returned.
local function leave_group(base, id, delivery, now)
  local groups, group = base .. 'groups:' .. id, group_of(base, id, delivery)
  if not group or redis.call('HGET', groups, 'g' .. group) ~= delivery then
    return mend_groups(base, id, now, delivery)
  end
  redis.call('HDEL', groups, 'd' .. delivery)
  return follow_head(base, id, group, now)
end

-- The first deliveries behind a head, at most max.
local function behind(base, id, head, max)
  local group = max > 0 and group_of(base, id, head)
  return group and redis.call('LRANGE', behind_key(base, id, group), 0, max - 1) or {}
end

local function number_behind(base, id, head)
  local group = group_of(base, id, head)
  return group and redis.call('LLEN', behind_key(base, id, group)) or 0
end

-- How many deliveries of a lane wait.
local function number_waiting(base, id, lane)
  local heads = redis.call('ZCARD', base .. 'fresh:' .. id) + redis.call('ZCARD', base .. 'retry:' .. id)
  return heads + (lane and lane.fifo and tonumber(redis.call('HGET', base .. 'lane:' .. id, LANE.behind)) or 0)
end

-- Removes up to max deliveries behind a head from the lane, and returns them. `kind`: how they end (lane-redriven).
local function pop_behind(base, id, head, max, kind)
  local group = max > 0 and group_of(base, id, head)
  local ids = group and redis.call('LPOP', behind_key(base, id, group), max) or {}
  for _, delivery in ipairs(ids) do
    drop_body(delivery)
    count_end(base, id, delivery, kind)
  end
  count_behind(base, id, -#ids)
  return ids
end

-- Removes the followers that are still behind their head. A purge may have removed some before.
local function pop_followers(base, id, head, followers)
  local ids, at = {}, 1
  while at <= #followers do
    local length = string.byte(followers, at)
    ids[#ids + 1] = string.sub(followers, at + 1, at + length)
    at = at + 1 + length
  end
  local first, matching = behind(base, id, head, #ids), 0
  for _, delivery in ipairs(ids) do
    if first[matching + 1] == delivery then matching = matching + 1 end
  end
  pop_behind(base, id, head, matching, ENDS.delivered)
end
