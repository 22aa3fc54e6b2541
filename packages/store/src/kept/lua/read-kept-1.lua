-- Reads a message of a topic's ring.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg id: text, 16 bytes
-- @arg published_at: number, ms
-- Returns its body, or a list with the data of its job, or a number: 0 the topic keeps no messages, 1 the message is
--   too old, 2 the ring was full, 3 the message was not kept.
-- @include now
-- @include kept-search
-- @include kept
local ring = open_ring(base, arn)
if not ring then return 0 end
local body = redis.call('HGET', ring.bodies, id)
if body then return body end
local job = kept_job_with(base, ring.uid, id)
if job then return { redis.call('HGET', job, KEPT_JOB.data) or '' } end
if ring.age_max == 0 then return 0 end
if published_at < now_ms(base) - ring.age_max then return 1 end
local full_until = tonumber(redis.call('HGET', ring.notes, KEPT.fullUntil)) or 0
return published_at <= full_until and 2 or 3
