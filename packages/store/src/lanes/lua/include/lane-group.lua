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

-- Returns true if the delivery is now its group's head. The caller must then put it into a set. Otherwise it waits
-- behind the head.
local function join_group(base, id, group, delivery)
  local groups = base .. 'groups:' .. id
  if redis.call('HSETNX', groups, 'g' .. group, delivery) == 1 then
    redis.call('HSET', groups, 'd' .. delivery, group)
    return true
  end
  redis.call('RPUSH', behind_key(base, id, group), delivery)
  count_behind(base, id, 1)
  return false
end

-- Called when a delivery leaves the lane permanently. If it is a head, the next delivery of its group becomes due now,
-- and true is returned. It is due now, and not at its publishing time, so that a group with a long backlog does not go
-- before all others.
local function leave_group(base, id, delivery, now)
  local groups, group = base .. 'groups:' .. id, group_of(base, id, delivery)
  if not group then return false end
  redis.call('HDEL', groups, 'd' .. delivery)
  local next = redis.call('LPOP', behind_key(base, id, group))
  if not next then
    redis.call('HDEL', groups, 'g' .. group)
    return false
  end
  redis.call('HSET', groups, 'g' .. group, next, 'd' .. next, group)
  redis.call('ZADD', base .. 'fresh:' .. id, text(now), next)
  count_behind(base, id, -1)
  return true
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

-- Removes the deliveries of a run that are still behind its head. A purge may have removed some before.
local function pop_run(base, id, head, run)
  local ids, at = {}, 1
  while at <= #run do
    local length = string.byte(run, at)
    ids[#ids + 1] = string.sub(run, at + 1, at + length)
    at = at + 1 + length
  end
  local first, matching = behind(base, id, head, #ids), 0
  for _, delivery in ipairs(ids) do
    if first[matching + 1] == delivery then matching = matching + 1 end
  end
  pop_behind(base, id, head, matching, ENDS.delivered)
end
