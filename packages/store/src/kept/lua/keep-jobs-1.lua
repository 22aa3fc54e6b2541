-- Adds dispatch jobs to the ring of a topic. All messages of a job are for this topic. Redis copies the record of each
-- job, so their messages pass through neither the worker nor Lua. Works only if one server has both keys. A job that is
-- in the ring already is not added again, so a call may be repeated.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @list jobs
-- @item record: text, key of the job's hash
-- @item name: text, longer than an id
-- @item added_at: digits, ms
-- @item published_at: number, ms of its first message
-- @item ids: text, 16 bytes for each message; '' if the job must not be copied
-- Returns the positions (from 0) of the jobs that are not in the ring, because they are gone, started again, must not
--   be copied, or are large for the ring.
-- @include now
-- @include when-full
-- @include kept-jobs
-- @include kept
-- A job that fills more of its ring than this share would displace many messages at once.
local LARGEST_SHARE = 1 / 16
local ring = open_ring(base, arn, uid)
if not ring then
  drop_ring(base, arn, uid)
  return {}
end
if ring.archive then run_when_full(base) end
local now = now_ms(base)
local notes = redis.call('HMGET', ring.notes, KEPT.last, KEPT.beyond)
local last, beyond = math.max(now * NUMBER.KEPT_STEPS - 1, tonumber(notes[1]) or 0), tonumber(notes[2]) or 0

-- A ring without this note has no jobs yet.
if not notes[2] then redis.call('SADD', base .. 'kept:whole', ring.name) end

-- A record of another kind is no job. The script must not stop there, between the writes for two jobs.
local function is_first_start(record, added_at)
  local found = redis.pcall('HMGET', record, KEPT_JOB.addedAt, KEPT_JOB.starts)
  return found[1] == added_at and found[2] == '1'
end

local function copy(record, key, ids)
  local bytes = kept_job_bytes(redis.call('HSTRLEN', record, KEPT_JOB.data), #ids)
  if bytes > ring.bytes_max * LARGEST_SHARE and not ring.archive then return nil end
  redis.call('COPY', record, key, 'REPLACE')
  redis.call('HSET', key, KEPT_JOB.ids, ids, KEPT_JOB.beyond, string.format('%d', beyond))
  return #ids / KEPT_ID_BYTES, bytes
end

local function add(name, published_at, messages, bytes)
  last, beyond = last + messages, beyond + messages - 1
  local score = string.format('%.0f', last)
  -- The place comes last, so nothing reads a job that a fault has left halfway.
  redis.call('ZADD', base .. 'kept:published:' .. uid, published_at, name)
  redis.call('ZADD', ring.jobs, score, name)
  redis.call('ZADD', ring.order, score, name)
  ring.filled = ring.filled + bytes
end

local missing, position = {}, -1
for record, name, added_at, published_at, ids in jobs() do
  position = position + 1
  if not redis.call('ZSCORE', ring.order, name) then
    local messages, bytes
    if ids ~= '' and is_first_start(record, added_at) then
      messages, bytes = copy(record, kept_job_key(base, uid, name), ids)
    end
    if messages then add(name, published_at, messages, bytes) else missing[#missing + 1] = position end
  end
end
redis.call('HSET', ring.notes, KEPT.last, string.format('%.0f', last), KEPT.beyond, string.format('%.0f', beyond))
trim_ring(ring, now, ring.bytes_max)
return missing
