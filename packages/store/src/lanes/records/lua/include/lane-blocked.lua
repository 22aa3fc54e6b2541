-- A lane is blocked if the service's own configuration prevents its attempts. It is then like a lane with an open
-- circuit: one delivery is claimed when it is time for a probe, and nothing else (LANE.openUntil). LANE.blockedBy names
-- the broken credential. A lane without retry mode and circuit breaker has the mode NO_MODE meanwhile.
-- @include lane-next
local function block(base, id, lane, till, credential)
  local key = base .. 'lane:' .. id
  if not lane.pace then
    lane.pace = { bare = true }
    redis.call('HSET', key, LANE.mode, NO_MODE)
  end
  lane.pace.probe_at = till
  redis.call('HSET', key, LANE.openUntil, text(till), LANE.blockedBy, credential)
end

-- The credential that blocks the lane, or false.
local function blocked_by(base, id)
  return redis.call('HGET', base .. 'lane:' .. id, LANE.blockedBy)
end

-- Whether the credential is an access token of the endpoint (TOKEN_CREDENTIAL).
local function is_token(credential)
  return string.sub(credential, 1, 6) == 'oauth:'
end

-- A subscription that was paused because its endpoint was gone has been resumed. If deliveries wait, the first attempt
-- is a probe for them. The caller must call lane_next afterwards.
local function probe_gone(base, id, now)
  if redis.call('EXISTS', base .. 'fresh:' .. id, base .. 'retry:' .. id) == 0 then return end
  block(base, id, lane_of(base, id, now), now, GONE)
end

-- Waiting deliveries are due at their own times again. The caller must call lane_next afterwards.
local function unblock(base, id, lane)
  local key = base .. 'lane:' .. id
  redis.call('HDEL', key, LANE.openUntil, LANE.blockedBy)
  lane.pace.probe_at = nil
  if lane.pace.bare then
    redis.call('HDEL', key, LANE.mode)
    lane.pace = false
  end
end
