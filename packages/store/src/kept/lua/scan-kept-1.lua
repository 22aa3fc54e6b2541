-- Reads places of a topic's ring for a search, newest first. Jobs come whole.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg below: digits, score; places have a lower one
-- @arg from: digits, score; places have this one or a higher one
-- @arg places_max: number
-- @arg bytes_max: number, the page has one place at least
-- Returns false if the ring is gone, else: 1 if there may be more places, else 0, then three values for each place:
--   its score, '1' for a job or '', and the body or the job's data ('' if it is gone).
-- @include kept-jobs
-- @include kept
local ring = open_ring(base, arn, uid)
if not ring then return false end
local found = redis.call('ZREVRANGEBYSCORE', ring.order, '(' .. below, from, 'WITHSCORES', 'LIMIT', 0, places_max)
local page, bytes = { #found == 2 * places_max and 1 or 0 }, 0

local function data_of(place)
  if not is_kept_job(place) then return redis.call('HGET', ring.bodies, place) or '' end
  return redis.call('HGET', kept_job_key(base, ring.uid, place), KEPT_JOB.data) or ''
end

for i = 1, #found, 2 do
  local data = data_of(found[i])
  bytes = bytes + #data
  if i > 1 and bytes > bytes_max then
    page[1] = 1
    break
  end
  page[#page + 1] = string.format('%.0f', tonumber(found[i + 1]))
  page[#page + 1] = is_kept_job(found[i]) and '1' or ''
  page[#page + 1] = data
end
return page
