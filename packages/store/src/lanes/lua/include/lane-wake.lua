-- Wakes the workers when a script has made the shard's earliest due time earlier, or that of the lanes that wait for
-- their turn: `local before = first_due(base)` at its beginning, `wake_if_earlier(base, shard, before, now,
-- first_turn)` at its end (first_turn: lane-next.lua). Returns the earliest due time or nil, and which wakes were
-- published: 0 none, 1 of `due`, 2 of `turns`, 3 both.
local function first_in(base, line)
  return tonumber(redis.call('ZRANGE', base .. line, 0, 0, 'WITHSCORES')[2])
end

local function first_due(base)
  return first_in(base, 'due')
end

local function publish_if_earlier(shard, before, after, now, kind)
  if not after or (before and (after >= before or before <= now)) then return 0 end
  redis.call('PUBLISH', 'ft:wake:lanes', shard .. ':' .. string.format('%.0f', after) .. kind)
  return 1
end

local function wake_if_earlier(base, shard, before, now, turn_before)
  local after = first_due(base)
  local woke = publish_if_earlier(shard, before, after, now, '')
  if turn_before == nil then return after, woke end
  return after, woke + 2 * publish_if_earlier(shard, turn_before, first_in(base, 'turns'), now, ':turn')
end
