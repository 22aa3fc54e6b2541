-- Finds messages in the jobs that rings keep whole. Writers do not need this, and each script makes all functions anew.
-- @include kept-jobs
-- The messages of a job were published within this time.
local KEPT_JOB_SPAN_MS = 2000
-- Jobs of a ring in which a message is looked for. Past it: the message is not found.
local KEPT_JOBS_SEARCHED_MAX = 2000
-- Jobs in which one script looks for a message, in all rings of a shard. Past it: the message is not found.
local KEPT_SEARCHES_MAX = 20000
-- Jobs that kept_beyond_places tries if the records of some are gone.
local KEPT_JOBS_TRIED = 10
local kept_searches = 0

-- How many messages the jobs from this score on have, less one for each job.
local function kept_beyond_places(ring, from)
  local names = redis.call('ZRANGEBYSCORE', ring.jobs, from, '+inf', 'LIMIT', 0, KEPT_JOBS_TRIED)
  for _, name in ipairs(names) do
    local before = tonumber(redis.call('HGET', kept_job_key(ring.base, ring.uid, name), KEPT_JOB.beyond) or '')
    local beyond = tonumber(redis.call('HGET', ring.notes, KEPT.beyond) or '')
    if before and beyond then return math.max(0, beyond - before) end
  end
  return 0
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
    math.min(KEPT_JOBS_SEARCHED_MAX, KEPT_SEARCHES_MAX - kept_searches))
  kept_searches = kept_searches + #names
  for _, name in ipairs(names) do
    local key = kept_job_key(base, uid, name)
    local ids = redis.call('HGET', key, KEPT_JOB.ids) or ''
    if position_of(id, ids) then return key end
  end
  return nil
end
