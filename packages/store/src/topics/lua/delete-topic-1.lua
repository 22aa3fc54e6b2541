-- Removes a topic with its first slice. If it has more slices, a note remains until the caller has dropped them
-- (drop-slice), so that a crash in between can be repaired.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg shard: digits
-- Returns: {} if there is no such topic | {uid, number of slices}
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
-- @include topic-slices
-- @include fifo-log
-- @include kept
-- @include archive
local key = base .. 'topic:' .. arn
run_when_full(base)
local topic = read_topic(key)
if not topic then return {} end
local now, before, slice_count = now_ms(base), first_due(base), slices_of(topic)
redis.call('UNLINK', key, base .. 'endpoints:' .. topic.uid, base .. 'tokens:' .. topic.uid,
  base .. 'types:' .. topic.uid)
redis.call('ZREM', base .. 'topics', arn)
redis.call('ZREM', base .. 'topics:watched', arn)
redis.call('ZREM', base .. 'unfinished', 'topic|' .. arn)
if slice_count > 1 then
  local note = 'purge|' .. arn .. '|' .. topic.uid .. '|' .. slice_count
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), note)
end
close_log(base, topic.uid, now)
drop_ring(base, arn, topic.uid)
end_archive(base, topic.uid)
if slice_count > 0 then drop_slice(base, topic.uid .. '.0', now) end
wake_if_earlier(base, shard, before, now, first_unproven)
redis.call('PUBLISH', 'ft:wake:changes', arn)
return {topic.uid, slice_count}
