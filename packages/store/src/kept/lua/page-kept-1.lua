-- Reads a page of a topic's ring, newest first.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg before: text, score of the last message of the page before, '' for the newest page
-- @arg messages_max: number
-- @arg bytes_max: number, the page has one message or job at least
-- Returns false if the topic keeps no messages, else: messages in the ring, then three values for each place of the
--   page. These are the lowest score of its messages on the page, ids, and body. A job has the ids of its messages on
--   the page, oldest first, and its data. A job whose record is gone has one empty body.
-- @include kept-jobs
-- @include kept-search
-- @include kept
local ring = open_ring(base, arn)
if not ring then return false end
local until_score = tonumber(before) or math.huge
local page, bytes = { redis.call('ZCARD', ring.order) + kept_beyond_places(ring, 0) }, 0

local function add(score, ids, body)
  bytes = bytes + #body
  if #page > 1 and bytes > bytes_max then
    messages_max = 0
    return
  end
  page[#page + 1], page[#page + 2], page[#page + 3] = string.format('%.0f', score), ids, body
  messages_max = messages_max - math.max(1, #ids / KEPT_ID_BYTES)
end

local function add_job(name, score)
  local job = redis.call('HMGET', kept_job_key(base, ring.uid, name), KEPT_JOB.ids, KEPT_JOB.data)
  local number = math.floor(#(job[1] or '') / KEPT_ID_BYTES)
  if number == 0 and score < until_score then return add(score, '', '') end
  local last = math.min(number, number + until_score - score - 1)
  if last < 1 then return end
  local first = math.max(1, last - messages_max + 1)
  local ids = string.sub(job[1], (first - 1) * KEPT_ID_BYTES + 1, last * KEPT_ID_BYTES)
  add(score - number + first, ids, job[2] or '')
end

local function add_place(place, score)
  if messages_max <= 0 then return end
  if is_kept_job(place) then return add_job(place, score) end
  add(score, '', redis.call('HGET', ring.bodies, place) or '')
end

local function add_places(found)
  for i = 1, #found, 2 do add_place(found[i], tonumber(found[i + 1])) end
end

-- The page before may have ended within a job.
if before ~= '' then
  local split = redis.call('ZRANGEBYSCORE', ring.order, before, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if split[1] and is_kept_job(split[1]) then add_places(split) end
end
local from = before == '' and '+inf' or '(' .. before
add_places(redis.call('ZREVRANGEBYSCORE', ring.order, from, '-inf', 'WITHSCORES', 'LIMIT', 0, math.max(0, messages_max)))
return page
