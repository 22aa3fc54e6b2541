-- Removes at most `items_max` items: visible, in flight or delayed. A FIFO queue also forgets its deduplication ids.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg before: text, highest score; '' that of now
-- @arg items_max: number
-- Returns false if there is no such queue, else: that score, items removed.
-- @include when-full
-- @include queue
-- @include queue-scan
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
if before == '' then
  redis.call('HSET', queue.key, QUEUE.purgedAt, queue.now, QUEUE.forgotten,
    redis.call('HGET', queue.key, QUEUE.sequence) or 0)
end
local highest = before ~= '' and before or newest_score(queue)
local ids = redis.call('ZRANGEBYSCORE', queue.q .. 'age', '-inf', highest, 'LIMIT', 0, items_max)
for _, id in ipairs(ids) do remove_item(queue, id) end
trim_recent(queue)
return { highest, #ids }
