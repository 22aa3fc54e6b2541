-- Dispatch jobs that a ring keeps whole. Redis copies the record of the job, so the messages go nowhere else. In the
-- order of the ring a job has one place, by its name, and a score for each message. The place has the last of them.

-- Bytes that Redis uses for a job beside its data and ids. kept-jobs.test.ts measures it, with jobs of 20 to 100 KB.
local KEPT_JOB_ENTRY_BYTES = 1700
local KEPT_ID_BYTES = 16
-- The messages of a job were published within this time.
local KEPT_JOB_SPAN_MS = 2000
-- @limit Jobs of a ring in which a message is looked for. Past it: the message is not found.
local KEPT_JOBS_SEARCHED_MAX = 2000
local KEPT_UNLINKED_AT_ONCE = 1000

local function kept_job_key(base, uid, name) return base .. 'kept:job:' .. uid .. ':' .. name end

local function is_kept_job(place) return #place ~= KEPT_ID_BYTES end

-- jemalloc has four sizes between two powers of two, and rounds up to the next.
local function allocated_bytes(bytes)
  local _, exponent = math.frexp(bytes - 1)
  local step = 2 ^ (exponent - 3)
  return math.ceil(bytes / step) * step
end

-- Returns the number of messages and of bytes.
local function measure_kept_job(key)
  local ids = redis.call('HSTRLEN', key, KEPT_JOB.ids)
  local bytes = allocated_bytes(redis.call('HSTRLEN', key, KEPT_JOB.data)) + allocated_bytes(ids) + KEPT_JOB_ENTRY_BYTES
  return ids / KEPT_ID_BYTES, bytes
end

-- How many messages the jobs from this score on have, less one for each job.
local function kept_beyond_places(ring, from)
  local first = redis.call('ZRANGEBYSCORE', ring.jobs, from, '+inf', 'LIMIT', 0, 1)[1]
  if not first then return 0 end
  local before = redis.call('HGET', kept_job_key(ring.base, ring.uid, first), KEPT_JOB.beyond)
  return tonumber(redis.call('HGET', ring.notes, KEPT.beyond)) - tonumber(before)
end

local function position_of(id, ids)
  local at = string.find(ids, id, 1, true)
  while at and at % KEPT_ID_BYTES ~= 1 do at = string.find(ids, id, at + 1, true) end
  return at
end

-- The key of the job with the message, or nil. An id begins with the time of publishing.
local function kept_job_with(base, uid, id)
  local high, low = struct.unpack('>I4I2', id)
  local at = high * 65536 + low
  local names = redis.call('ZREVRANGEBYSCORE', base .. 'kept:published:' .. uid, at, at - KEPT_JOB_SPAN_MS, 'LIMIT', 0,
    KEPT_JOBS_SEARCHED_MAX)
  for _, name in ipairs(names) do
    local key = kept_job_key(base, uid, name)
    if position_of(id, redis.call('HGET', key, KEPT_JOB.ids)) then return key end
  end
  return nil
end

-- Removes jobs, but not their places.
local function remove_kept_jobs(base, uid, names)
  for first = 1, #names, KEPT_UNLINKED_AT_ONCE do
    local last = math.min(#names, first + KEPT_UNLINKED_AT_ONCE - 1)
    local keys = {}
    for i = first, last do keys[#keys + 1] = kept_job_key(base, uid, names[i]) end
    redis.call('UNLINK', unpack(keys))
    redis.call('ZREM', base .. 'kept:jobs:' .. uid, unpack(names, first, last))
    redis.call('ZREM', base .. 'kept:published:' .. uid, unpack(names, first, last))
  end
end
