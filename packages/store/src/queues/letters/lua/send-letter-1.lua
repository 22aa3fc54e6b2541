-- Stores a dead letter in its topic's own queue, and makes that queue if there is none. If the queue then
-- has too many bytes, its oldest messages are removed. One script does it all, so the letter is never without a queue.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg topic: text, ARN of the topic
-- @arg record: text, of a new queue
-- @arg uid: text, of a new queue
-- @arg visibility: digits, ms
-- @arg retention: digits, ms
-- @arg bytes_max: number, what the queue may fill
-- @rest letter: values of an item (queue-store.lua)
-- Returns false if somebody else's queue has the name, else: messages removed because it is full, 1 if the queue
--   is new, 1 if the letter was not there before, and the removed letters (letter-quota.lua).
-- @include when-full
-- @include queue
-- @include queue-store
-- @include lane-count
-- @include letter-quota
local key = base .. 'queue:' .. arn
run_when_full(base)
local made = redis.call('EXISTS', key) == 0
if made then
  redis.call('HSET', key, QUEUE.record, record, QUEUE.uid, uid, QUEUE.visibility, visibility, QUEUE.retention, retention,
    QUEUE.delay, 0, QUEUE.maxReceiveCount, '', QUEUE.target, '', QUEUE.byContent, '', QUEUE.groupScope, '',
    QUEUE.topic, topic)
  redis.call('ZADD', base .. 'queues', 0, arn)
  redis.call('PUBLISH', 'ft:wake:changes', arn)
elseif redis.call('HGET', key, QUEUE.topic) ~= topic then
  return false
end
local queue = open_queue(base, arn)
keep_clock(queue)
local stored = select(3, store_item(queue, letter_at - 1))
local removed, letters = trim_letters(queue, bytes_max)
if stored or queue.woken then redis.call('PUBLISH', 'ft:wake:queues', arn) end
write_counts(base)
return { removed, made and 1 or 0, stored and 1 or 0, letters }
