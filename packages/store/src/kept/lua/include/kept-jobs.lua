-- Dispatch jobs that a ring keeps whole. Redis copies the record of the job, so the messages go nowhere else. In the
-- order of the ring a job has one place, by its name, and a score for each message. The place has the last of them.

-- Bytes that Redis uses for a job beside its data and ids. kept-jobs.test.ts measures it, with jobs of 20 to 100 KB.
local KEPT_JOB_ENTRY_BYTES = 1700
local KEPT_ID_BYTES = 16
-- Dropped jobs that one script deletes. Past it: the next script continues.
local KEPT_DELETED_MAX = 1000

local function kept_job_key(base, uid, name) return base .. 'kept:job:' .. uid .. ':' .. name end

local function is_kept_job(place) return #place ~= KEPT_ID_BYTES end

-- jemalloc has four sizes between two powers of two, and rounds up to the next.
local function allocated_bytes(bytes)
  local _, exponent = math.frexp(bytes - 1)
  local step = 2 ^ (exponent - 3)
  return math.ceil(bytes / step) * step
end

-- The bytes that a job fills whose data and ids have these lengths.
local function kept_job_bytes(data_bytes, ids_bytes)
  return allocated_bytes(data_bytes) + allocated_bytes(ids_bytes) + KEPT_JOB_ENTRY_BYTES
end

-- Returns the number of messages and of bytes.
local function measure_kept_job(key)
  local ids = redis.call('HSTRLEN', key, KEPT_JOB.ids)
  return math.floor(ids / KEPT_ID_BYTES), kept_job_bytes(redis.call('HSTRLEN', key, KEPT_JOB.data), ids)
end

-- Removes at most 1,000 jobs, but not their places.
local function remove_kept_jobs(base, uid, names)
  if #names == 0 then return end
  local keys = {}
  for i, name in ipairs(names) do keys[i] = kept_job_key(base, uid, name) end
  redis.call('UNLINK', unpack(keys))
  redis.call('ZREM', base .. 'kept:jobs:' .. uid, unpack(names))
  redis.call('ZREM', base .. 'kept:published:' .. uid, unpack(names))
end

-- Lists of dropped jobs have numbers from 1, without a gap.
local function dropped_key(base, uid, number) return base .. 'kept:dropped:' .. uid .. ':' .. number end

local function last_dropped(base, uid)
  local number = 0
  while redis.call('EXISTS', dropped_key(base, uid, number + 1)) == 1 do number = number + 1 end
  return number
end

-- Drops all jobs of a ring in a time that does not depend on their number. delete_dropped_jobs deletes them.
local function drop_kept_jobs(base, uid)
  redis.call('UNLINK', base .. 'kept:published:' .. uid)
  local jobs = base .. 'kept:jobs:' .. uid
  if redis.call('EXISTS', jobs) == 0 then return end
  redis.call('RENAME', jobs, dropped_key(base, uid, last_dropped(base, uid) + 1))
end

-- Deletes dropped jobs. Returns whether there may be more.
local function delete_dropped_jobs(base, uid)
  local number = last_dropped(base, uid)
  if number == 0 then return false end
  local list = dropped_key(base, uid, number)
  local names = redis.call('ZRANGE', list, 0, KEPT_DELETED_MAX - 1)
  -- A job that was kept again since then has the same key.
  local kept = redis.call('ZMSCORE', base .. 'kept:jobs:' .. uid, unpack(names))
  local keys = {}
  for i, name in ipairs(names) do
    if not kept[i] then keys[#keys + 1] = kept_job_key(base, uid, name) end
  end
  if #keys > 0 then redis.call('UNLINK', unpack(keys)) end
  redis.call('ZREMRANGEBYRANK', list, 0, #names - 1)
  return number > 1 or #names == KEPT_DELETED_MAX
end
