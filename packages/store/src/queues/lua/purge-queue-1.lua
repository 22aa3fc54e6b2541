-- Removes what is there, at most `max` items: visible, in flight or delayed. A FIFO queue also forgets what was sent.
-- KEYS[1] base
-- ARGV: arn, highest score ('' that of now), max
-- Returns false where there is no such queue, else: that score, items removed.
-- @include when-full
-- @include queue
-- @include queue-scan
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
run_when_full(KEYS[1])
keep_clock(queue)
if ARGV[2] == '' then
  redis.call('HSET', queue.key, 'purged', queue.now, 'forgot', redis.call('HGET', queue.key, 'seq') or 0)
end
local before = ARGV[2] ~= '' and ARGV[2] or newest_score(queue)
local ids = redis.call('ZRANGEBYSCORE', queue.q .. 'age', '-inf', before, 'LIMIT', 0, tonumber(ARGV[3]))
for _, id in ipairs(ids) do remove_item(queue, id) end
trim_recent(queue)
return { before, #ids }
