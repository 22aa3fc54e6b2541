-- Moves the time of all shards to a target at once. It also moves what Redis itself times: keys that expire, and
-- delayed dispatch jobs. Without a jump (the target has passed) nothing changes.
-- @key travel: of the stack
-- @arg target_ms: number, epoch ms of the stack
-- @rest bases: prefixes of all shards, and of other data with times
-- Returns epoch ms by Redis's own clock, ms by which the stack's time is ahead of that now
-- @include when-full
-- @include now

-- Keys that belong to processes and expire by real time: locks and checks of BullMQ, and the barriers of replicas.
local STAY = { '^ft:{dispatch%-', '^ft:{redrive}:', '^ft:{maintenance}:', '^ft:{%a+}:writer:' }

local function stays(key)
  for _, pattern in ipairs(STAY) do
    if string.match(key, pattern) then return true end
  end
  return false
end

local function shorten(key, by)
  local left = redis.call('PTTL', key)
  if left > 0 then redis.call('PEXPIRE', key, string.format('%.0f', left - by)) end
end

local function hasten(key, by)
  local jobs = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #jobs, 2 do
    redis.call('ZADD', key, string.format('%.0f', tonumber(jobs[i + 1]) - by * NUMBER.DELAY_UNIT), jobs[i])
  end
  -- Wakes the workers that wait for a job.
  if #jobs > 0 then redis.call('ZADD', string.gsub(key, ':delayed$', ':marker'), 0, '0') end
end

-- SCAN may return a key twice.
local function all_keys()
  local cursor, seen, keys = '0', {}, {}
  repeat
    local step = redis.call('SCAN', cursor, 'MATCH', 'ft:*', 'COUNT', 1000)
    cursor = step[1]
    for _, key in ipairs(step[2]) do
      if not seen[key] then keys[#keys + 1] = key end
      seen[key] = true
    end
  until cursor == '0'
  return keys
end

run_when_full(travel)
if redis.call('EXISTS', travel) == 0 then return redis.error_reply('the time of this data cannot be moved') end
local first = ARGV[bases_at]
local by = math.max(0, math.ceil(target_ms - now_ms(first)))
if by > 0 then
  for i = bases_at, #ARGV do redis.call('INCRBY', ARGV[i] .. 'skew', string.format('%.0f', by)) end
  for _, key in ipairs(all_keys()) do
    if string.match(key, '^ft:{dispatch%-[^}]*}:dispatch%-%d+:delayed$') then
      hasten(key, by)
    elseif not stays(key) then
      shorten(key, by)
    end
  end
end
local t = redis.call('TIME')
local offset = tonumber(redis.call('GET', first .. 'skew') or '0')
return { string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)), string.format('%.0f', offset) }
