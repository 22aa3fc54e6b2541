-- Removes the oldest messages of a topic's own queue, because all such queues together are too large.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg bytes_to_free: number
-- Returns messages removed, bytes freed, the topic's ARN or '', and the removed letters (letter-quota.lua).
-- @include when-full
-- @include queue
-- @include lane-count
-- @include letter-quota
run_when_full(base)
local queue = open_queue(base, arn)
if not queue or not queue.letters then return { 0, 0, '', {} } end
keep_clock(queue)
local before = letter_bytes(queue)
local removed, letters = trim_letters(queue, before - bytes_to_free)
wake_readers(queue)
write_counts(base)
return { removed, before - letter_bytes(queue), redis.call('HGET', queue.key, QUEUE.topic), letters }
