-- Stores what a process reports about itself, and removes processes that have been silent for too long.
-- @key base: of the processes
-- @arg id: text
-- @arg record: text
-- @arg silent_ms: number
-- @arg processes_max: number
-- Returns 1, or 0 if there are too many other processes
-- @include now
-- @include when-full
run_when_full(base)
local seen, records, now = base .. 'seen', base .. 'records', now_ms(base)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now - silent_ms)) do
  redis.call('HDEL', records, old)
  redis.call('ZREM', seen, old)
end
if not redis.call('ZSCORE', seen, id) and redis.call('ZCARD', seen) >= processes_max then return 0 end
redis.call('HSET', records, id, record)
redis.call('ZADD', seen, string.format('%.0f', now), id)
return 1
