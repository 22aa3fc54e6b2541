-- Chooses a resend's next batch and records it, so that after a crash the next start gets the same one. The messages
-- stay in their ring, and may leave it before they are resent.
-- @key base: of the topic's home shard
-- @arg id: text
-- @arg fence: digits
-- @arg items_max: number
-- @arg bytes_max: number
-- Returns what choose-redriven returns, and after a batch the data of jobs. An item is an id in hex, and its body, or
--   the position of its job's data (from 0), or false. If the topic has an archive, a batch is chosen by record-resent,
--   and the answer is one of these:
--   - 'next', the uid of the topic, the most messages of the batch, the score behind which it begins, the last score
--   - 'open', the uid of the topic, the number of the open batch, the scores of the batch in a text
-- @include now
-- @include when-full
-- @include kept-jobs
-- @include kept
-- @include redrive
-- @include redrive-end
local key = base .. 'redrive:' .. id
local task = read_task(key)
if task.fence ~= fence then return { 'stale' } end
run_when_full(base)
local now = now_ms(base)
local active = task.status == 'running' or task.status == 'paused' or task.status == 'canceling'
local ring = task.topic and open_ring(base, task.topic, task.uid)

local function problem()
  if not ring then return 'the topic keeps no messages any more' end
  if (task.archive or '') == '' then return nil end
  local since = ring.archive and redis.call('HGET', ring.archive, ARCHIVE.since)
  return since ~= task.archive and 'the archive was deleted while the task read it' or nil
end

if not active then return { 'stop' } end
local reason = problem()
if reason then
  end_task(base, key, 'failed', reason, now)
  return { 'stop' }
end

local function hex_of(raw)
  return (string.gsub(raw, '.', function(char) return string.format('%02x', string.byte(char)) end))
end

local function raw_of(hex)
  return (string.gsub(hex, '..', function(two) return string.char(tonumber(two, 16)) end))
end

local data, position_of_job = {}, {}

-- The position of the job's data, or false if the ring does not have the job any more.
local function find_job(name)
  local has_place = redis.call('ZSCORE', ring.order, name)
  local stored = has_place and redis.call('HGET', kept_job_key(base, ring.uid, name), KEPT_JOB.data)
  if not stored then return false end
  data[#data + 1] = stored
  return #data - 1
end

local function job_of(name)
  if position_of_job[name] == nil then position_of_job[name] = find_job(name) end
  return position_of_job[name]
end

-- A chosen message is its id in hex. The name of its job follows behind a space, so no later start looks for it.
local function batch_of(number, chosen)
  local found = {}
  for i, item in ipairs(chosen) do
    local hex, name = string.match(item, '^(%x+) ?(.*)$')
    found[i] = { hex, name ~= '' and job_of(name) or redis.call('HGET', ring.bodies, raw_of(hex)) }
  end
  return { 'batch', number, found, data }
end

if task.items then
  local number = tonumber(task.batch)
  if string.sub(task.items, 1, 1) ~= '[' then return { 'open', ring.uid, number, task.items } end
  return batch_of(number, cjson.decode(task.items))
end
if task.status == 'canceling' then end_task(base, key, 'canceled', '', now) end
if task.status == 'running' and task.done == '1' then end_task(base, key, 'completed', '', now) end
if task.status ~= 'running' or task.done == '1' then return { 'stop' } end
local wait, max = pace(task, now, items_max)
if wait > 0 then return { 'wait', wait } end
if ring.archive then return { 'next', ring.uid, max, task.score, task.newest } end

local found = redis.call('ZRANGEBYSCORE', ring.order, '(' .. task.score, task.newest, 'WITHSCORES', 'LIMIT', 0, max)
local items, bytes, last = {}, 0, task.score

-- The job's messages behind the score, as many as the batch may still have.
local function choose_of_job(name, score)
  local key = kept_job_key(base, ring.uid, name)
  local ids = redis.call('HGET', key, KEPT_JOB.ids) or ''
  local number = math.floor(#ids / KEPT_ID_BYTES)
  if number == 0 then last = string.format('%.0f', score) end
  local first = math.max(1, tonumber(task.score) - score + number + 1)
  for i = first, math.min(number, first + max - #items - 1) do
    items[#items + 1] = hex_of(string.sub(ids, (i - 1) * KEPT_ID_BYTES + 1, i * KEPT_ID_BYTES)) .. ' ' .. name
    last = string.format('%.0f', score - number + i)
  end
  bytes = bytes + redis.call('HSTRLEN', key, KEPT_JOB.data)
end

for i = 1, #found, 2 do
  if is_kept_job(found[i]) then
    choose_of_job(found[i], tonumber(found[i + 1]))
  else
    items[#items + 1] = hex_of(found[i])
    last = found[i + 1]
    bytes = bytes + redis.call('HSTRLEN', ring.bodies, found[i])
  end
  if bytes >= bytes_max or #items >= max then break end
end
redis.call('HSET', key, TASK.score, last, TASK.done, #found == 0 and '1' or '')
if #items == 0 then return { 'again' } end
local number = tonumber(task.batch) + 1
redis.call('HSET', key, TASK.batch, number, TASK.items, cjson.encode(items))
if tonumber(task.rate) then redis.call('HSET', key, TASK.next, next_start(task, now, #items)) end
return batch_of(number, items)
