-- Reads what follows a score in a topic's archive: the next block, or places of the ring if no block follows. One
-- script reads both, because a block may take messages from the ring at any time.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg after: number, score
-- @arg last: number, score
-- @arg since: number, ms
-- @arg before: number, ms
-- @arg blocks_max: number, blocks that are passed because nothing in them was published in this time
-- @arg places_max: number
-- @arg bytes_max: number, the page has one place at least
-- Returns false if the ring is gone, or a list of one of these kinds:
--   - 'block', its score and its entry
--   - 'passed', and the score of the last block that was passed
--   - 'ring', and three values for each place: its score, ids of a job's messages or '', and the body or the job's data
-- @include kept-jobs
-- @include kept
local ring = open_ring(base, arn, uid)
if not ring then return false end
if after >= last then return { 'ring' } end

local function read_place(place)
  if not is_kept_job(place) then return '', redis.call('HGET', ring.bodies, place) or '' end
  local job = redis.call('HMGET', kept_job_key(base, ring.uid, place), KEPT_JOB.ids, KEPT_JOB.data)
  return job[1] or '', job[2] or ''
end

local function read_ring(behind, to)
  local page, bytes = { 'ring' }, 0
  local first, final = string.format('(%.0f', behind), string.format('%.0f', to)
  local found = redis.call('ZRANGEBYSCORE', ring.order, first, final, 'WITHSCORES', 'LIMIT', 0, places_max)
  for i = 1, #found, 2 do
    local ids, body = read_place(found[i])
    bytes = bytes + #body
    if i > 1 and bytes > bytes_max then break end
    local n = #page
    page[n + 1], page[n + 2], page[n + 3] = found[i + 1], ids, body
  end
  return page
end

local index = base .. 'archive:blocks:' .. uid
local blocks = redis.call('ZRANGEBYSCORE', index, string.format('(%.0f', after), '+inf', 'WITHSCORES', 'LIMIT', 0,
  blocks_max)
for i = 1, #blocks, 2 do
  local from, _, _, first, newest = string.match(blocks[i], '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  from = tonumber(from) or last
  -- The ring may have messages from before the archive.
  if from > after then
    local page = read_ring(after, math.min(from, last))
    if #page > 1 or from >= last then return page end
  end
  if tonumber(newest) >= since and tonumber(first) <= before then return { 'block', blocks[i + 1], blocks[i] } end
  after = tonumber(blocks[i + 1])
  if after >= last then return { 'ring' } end
end
if #blocks == 2 * blocks_max then return { 'passed', blocks[#blocks] } end
return read_ring(after, last)
