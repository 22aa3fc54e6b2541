-- Creates a push consumer of a queue, replaces its record unless somebody else has written since it was read, or
-- removes it. One that does not grow is replaced, and one is removed, even when memory is full.
-- KEYS[1] base
-- ARGV: arn, name, record as it was read ('' absent), new record or '' to remove it, consumers at most
-- Returns false where there is no such queue, 0 where the record is another by now, 2 where there are too many, else 1.
-- @include now
-- @include when-full
-- @include queue
local base, arn, name = KEYS[1], ARGV[1], ARGV[2]
local queue = open_queue(base, arn)
if not queue then return false end
if #ARGV[4] <= #ARGV[3] then run_when_full(base) end
local key = queue.q .. 'consumers'
if ARGV[4] == '' then
  redis.call('HDEL', key, name)
  if redis.call('EXISTS', key) == 0 then redis.call('ZREM', base .. 'consuming', arn) end
else
  if (redis.call('HGET', key, name) or '') ~= ARGV[3] then return 0 end
  if ARGV[3] == '' and redis.call('HLEN', key) >= tonumber(ARGV[5]) then return 2 end
  redis.call('HSET', key, name, ARGV[4])
  redis.call('ZADD', base .. 'consuming', 0, arn)
end
redis.call('PUBLISH', 'ft:wake:consumers', arn)
return 1
