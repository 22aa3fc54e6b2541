-- Wakes the workers if a script has made the shard's earliest due time or its first lane in `unproven` earlier. A
-- script begins with `local before = first_due(base)` and ends with `wake_if_earlier(base, shard, before, now,
-- first_unproven)` (first_unproven: lane-next.lua). The latter returns the earliest due time or nil, and the published
-- wakes: 0 none, 1 for `due`, 2 for `unproven`, 3 both.
local function first_in(base, due_set)
  return tonumber(redis.call('ZRANGE', base .. due_set, 0, 0, 'WITHSCORES')[2])
end

local function first_due(base)
  return first_in(base, 'due')
end

local function publish_if_earlier(shard, before, after, now, kind)
  if not after or (before and (after >= before or before <= now)) then return 0 end
  redis.call('PUBLISH', 'ft:wake:lanes', shard .. ':' .. string.format('%.0f', after) .. kind)
  return 1
end

local function wake_if_earlier(base, shard, before, now, unproven_before)
  local after = first_due(base)
  local woke = publish_if_earlier(shard, before, after, now, '')
  if unproven_before == nil then return after, woke end
  return after, woke + 2 * publish_if_earlier(shard, unproven_before, first_in(base, 'unproven'), now, ':unproven')
end
