-- Wakes the workers when a script has made the shard's earliest due time earlier: `local before = first_due(base)` at
-- its beginning, `wake_if_earlier(base, shard, before, now)` at its end. Returns the earliest due time or nil, and
-- whether a wake was published.
local function first_due(base)
  return tonumber(redis.call('ZRANGE', base .. 'due', 0, 0, 'WITHSCORES')[2])
end

local function wake_if_earlier(base, shard, before, now)
  local after = first_due(base)
  if not after or (before and (after >= before or before <= now)) then return after, false end
  redis.call('PUBLISH', 'ft:wake:lanes', shard .. ':' .. string.format('%.0f', after))
  return after, true
end
