-- Records the next batch of a resend from an archive: the messages between two scores. After a crash the next start
-- reads the same messages again, from the ring or from a block.
-- @key base: of the topic's home shard
-- @arg id: text
-- @arg fence: digits
-- @arg from: digits, score of the last message before the batch
-- @arg to: digits, score of its last message
-- @arg messages: number, 0 if there is nothing to send up to `to`
-- @arg done: flag, whether nothing follows
-- Returns what choose-redriven returns; a batch only with its number. 'caughtUp': nothing is left, and the task
--   follows.
-- @include now
-- @include when-full
-- @include redrive
local FOLLOW_MS = 100
run_when_full(base)
local key = base .. 'redrive:' .. id
local task = read_task(key)
if task.fence ~= fence then return { 'stale' } end
if task.status ~= 'running' or task.items or task.score ~= from then return { 'again' } end
local now = now_ms(base)

-- Messages may still come. Returns what the task does until then.
local function wait_for_more()
  redis.call('HSET', key, TASK.score, to)
  if redis.call('HGET', key, TASK.follows) == '1' then return { 'caughtUp' } end
  return { 'wait', FOLLOW_MS }
end

local awaited = math.floor(tonumber(task.newest) / NUMBER.KEPT_STEPS)
local until_kept = tonumber(redis.call('HGET', key, TASK.untilKept) or '')

-- A reader of a FIFO log that was slow keeps messages later than the task has expected.
local function is_in_log()
  local oldest = redis.call('LINDEX', base .. 'log:' .. task.uid, 0)
  if not oldest then return false end
  local high, low = struct.unpack('>I4I2', oldest)
  return high * 65536 + low <= until_kept
end

-- Everything that the log had is kept now. The task ends behind it.
local function end_behind_last()
  local last = tonumber(redis.call('HGET', base .. 'kept:' .. task.uid, KEPT.last)) or 0
  redis.call('HSET', key, TASK.score, to, TASK.untilKept, '', TASK.newest,
    string.format('%.0f', math.max(last, tonumber(task.newest))))
  return { 'again' }
end

if done and messages == 0 then
  if awaited > now or (until_kept and is_in_log()) then return wait_for_more() end
  if until_kept then return end_behind_last() end
end
redis.call('HSET', key, TASK.score, to, TASK.done, done and not until_kept and '1' or '')
if messages == 0 then return { 'again' } end
local number = tonumber(task.batch) + 1
redis.call('HSET', key, TASK.batch, number, TASK.items, from .. ' ' .. to)
if tonumber(task.rate) then redis.call('HSET', key, TASK.next, next_start(task, now, messages)) end
return { 'batch', number }
