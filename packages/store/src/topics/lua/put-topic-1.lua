-- Creates a topic, or replaces its record where it still is the one that the caller has read. Its first slice follows
-- at once; the caller sees to the others (configure-slice, then finish-topic), a mark remains till then.
-- A record that does not grow is replaced even when memory is full.
-- KEYS: base of the topic's home shard
-- ARGV: ARN, shard number, record as read ('' for none), new record (when creating: up to where the time follows),
--       uid, throttle, retention seconds, '1' where overrides are disabled, revision
-- Returns: {'changed'} | {'created', record} | {'set', number of slices}
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include topic-slices
local base, arn = KEYS[1], ARGV[1]
local key = base .. 'topic:' .. arn
if #ARGV[4] <= #ARGV[3] then run_when_full(base) end
local now, before = now_ms(base), first_due(base)
local topic = read_topic(key)
if (topic and topic.record or '') ~= ARGV[3] then return {'changed'} end
redis.call('HSET', key, 'rate', ARGV[6], 'ret', ARGV[7], 'ovr', ARGV[8], 'rev', ARGV[9])
redis.call('HINCRBY', key, 'v', 1)
redis.call('PUBLISH', 'ft:wake:changes', arn)
if not topic then
  local record = ARGV[4] .. ',"createdAt":' .. string.format('%.0f', now) .. '}'
  redis.call('HSET', key, 'record', record, 'uid', ARGV[5], 'slices', '[]')
  redis.call('ZADD', base .. 'topics', 0, arn)
  return {'created', record}
end
redis.call('HSET', key, 'record', ARGV[4])
local slices = slices_of(topic)
if slices > 0 then
  set_slice_topic(base, topic.uid .. '.0', arn, read_topic(key), ARGV[9], now)
  wake_if_earlier(base, ARGV[2], before, now, first_turn)
end
if slices > 1 then
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), 'topic|' .. arn)
end
return {'set', slices}
