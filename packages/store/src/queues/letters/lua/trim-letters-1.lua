-- Removes the oldest messages of a topic's own queue, because all such queues together are too large.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg bytes_max: number, the size that the queue shall have
-- Returns messages removed, bytes left, the topic's ARN or '', and the removed letters (letter-quota.lua).
-- @include when-full
-- @include queue
-- @include lane-count
-- @include letter-quota
run_when_full(base)
local queue = open_queue(base, arn)
if not queue or not queue.letters then return { 0, 0, '', {} } end
keep_clock(queue)
local removed, letters = trim_letters(queue, bytes_max)
wake_readers(queue)
write_counts(base)
return { removed, letter_bytes(queue), redis.call('HGET', queue.key, QUEUE.topic), letters }
