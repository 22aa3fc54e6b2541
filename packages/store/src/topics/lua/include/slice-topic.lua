-- Gives a slice its copy of the topic's settings, unless its copy is as new. If the throttle of its lanes changes, it
-- computes when they next need a take. `settings`: a topic's record, version, rate, retention and overrides.
-- @include lane-next
local function set_slice_topic(base, slice, arn, settings, rev, now)
  local key = base .. 'slice:' .. slice
  local had = redis.call('HMGET', key, SLICE.version, SLICE.rate, SLICE.overrides)
  if had[1] and tonumber(had[1]) >= tonumber(settings.version) then return end
  redis.call('HSET', key, SLICE.version, settings.version, SLICE.arn, arn, SLICE.topic, settings.record,
    SLICE.rate, settings.rate, SLICE.retention, settings.retention, SLICE.overrides, settings.overrides,
    SLICE.revision, rev)
  if not had[1] or (had[2] == settings.rate and had[3] == settings.overrides) then return end
  local ids = redis.call('HKEYS', base .. 'subs:' .. slice)
  if #ids == 0 then return end
  -- Lanes that are in no line are empty or paused, so the throttle does not affect them. There may be 500 of them.
  local due = redis.call('ZMSCORE', base .. 'due', unpack(ids))
  local unproven = redis.call('ZMSCORE', base .. 'unproven', unpack(ids))
  for i, id in ipairs(ids) do
    if due[i] or unproven[i] then lane_next(base, id, now) end
  end
end
