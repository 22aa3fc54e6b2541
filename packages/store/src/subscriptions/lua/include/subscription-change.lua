-- Common parts of changes to a stored subscription.
-- @include lane-next
-- @include lane-wake
-- @include topic-slices
-- @include topic-tokens

-- Values that a lane has learnt from its endpoint's answers, for its retry mode and circuit breaker.
local PACE_STATE = {
  LANE.quota, LANE.paceNext, LANE.adaptiveRate, LANE.openUntil, LANE.failures, LANE.lastMax, LANE.slowedAt,
  LANE.measured,
  LANE.bucket, LANE.requests, LANE.closedAt, LANE.blockedBy,
}

-- The state of pace, for a lane that keeps its mode.
local function forget_pace(key)
  redis.call('HDEL', key, unpack(PACE_STATE))
  if redis.call('HGET', key, LANE.mode) == NO_MODE then redis.call('HDEL', key, LANE.mode) end
end

-- Ends a change. Updates the expiry of the subscription's token and its lane's due time. If the topic is in this shard
-- (`change.arn` is not ''), also updates the token's entry and the topic's revision. `before`: the shard's earliest due
-- time before the change.
local function finish_change(base, shard, id, now, before, change)
  if change.expires == '' then
    redis.call('ZREM', base .. 'expiries', id)
  else
    redis.call('ZADD', base .. 'expiries', change.expires, id)
  end
  lane_next(base, id, now)
  wake_if_earlier(base, shard, before, now, first_unproven)
  if change.arn == '' then return end
  set_token(base, change.uid, change.raw_id, change.old_token, change.new_token)
  touch_topic(base .. 'topic:' .. change.arn, change.uid, change.arn, change.revision)
end
