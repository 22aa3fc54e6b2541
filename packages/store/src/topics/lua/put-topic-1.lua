-- Creates a topic, or replaces its record if it is still as the caller read it. The first slice gets the record at
-- once. The caller updates the other slices (configure-slice, then finish-topic), and a note remains until then. A
-- record that does not grow is replaced even when memory is full.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg hidden: text, '1' if no list shows the topic, else ''
-- @arg shard: digits
-- @arg expected: text, record as read; '' for none
-- @arg record: text, new record; when creating: up to where the time follows
-- @arg uid: text
-- @arg rate: text, '' for none
-- @arg retention: text, seconds
-- @arg overrides: text, '1' if subscriptions' overrides are disabled, else ''
-- @arg kept: text, seconds and bytes of the ring of messages, then days and bytes of the archive; '' for none
-- @arg watched: text, '1' if the topic gets notices or disables endpoints, else ''
-- @arg revision: text
-- @arg valid_until: number?, ms after which a creation is too late for its quota
-- Returns: {'changed'} (or too late) | {'created', record} | {'set', number of slices}
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-topic
-- @include topic-slices
-- @include kept
-- @include archive
-- @include record-sum
local key = base .. 'topic:' .. arn
if #record <= #expected then run_when_full(base) end
local now, before = now_ms(base), first_due(base)
local topic = read_topic(key)
if (topic and topic.record or '') ~= expected then return {'changed'} end
if valid_until and now > valid_until then return {'changed'} end
local kept_before = redis.call('HGET', key, TOPIC.kept) or ''
redis.call('HSET', key, TOPIC.rate, rate, TOPIC.retention, retention, TOPIC.overrides, overrides,
  TOPIC.revision, revision, TOPIC.kept, kept)
redis.call('HINCRBY', key, TOPIC.version, 1)
redis.call('PUBLISH', 'ft:wake:changes', arn)
if watched == '' then redis.call('ZREM', base .. 'topics:watched', arn)
else redis.call('ZADD', base .. 'topics:watched', 0, arn) end
if not topic then
  local created = sum_record(record .. ',"' .. TOPIC_RECORD.createdAt .. '":' .. string.format('%.0f', now))
  redis.call('HSET', key, TOPIC.record, created, TOPIC.uid, uid, TOPIC.slices, '[]')
  if hidden == '' then redis.call('ZADD', base .. 'topics', 0, arn) end
  change_archive(base, arn, uid, '', kept, now)
  return {'created', created}
end
redis.call('HSET', key, TOPIC.record, record)
if kept == '' then drop_ring(base, arn, topic.uid) end
change_archive(base, arn, topic.uid, kept_before, kept, now)
local slice_count = slices_of(topic)
if slice_count > 0 then
  set_slice_topic(base, topic.uid .. '.0', arn, read_topic(key), revision, now)
  wake_if_earlier(base, shard, before, now, first_unproven)
end
if slice_count > 1 then
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), 'topic|' .. arn)
end
return {'set', slice_count}
