-- Isolates a message if several readers of its FIFO log die or freeze while they match it. After that, the message
-- delays only its own group.
--
--   reader 1   reads many messages at once
--              │ it dies: no end of it is recorded (`e`)
--   reader 2 … one message at a time, recorded before it is matched (`u`, `v`)
--              │ a later reader finds a message that a dead reader has recorded, and counts (`x`); from the second on:
--   isolated   the message moves to a separate log of its group. Later messages of the group go there too, in order.
--              Each failed reader of that log is followed by a longer delay (1 s to 5 min).
--
-- A message whose key is missing is moved to a log of its group too, which waits until it is tried again.
--
-- This never takes more memory: entries only change their list, and bodies stay where they are. The number of isolated
-- messages therefore needs no bound except that on publishing.
-- @include fifo-log
-- The most messages that a reader may have been handling when it died.
local ISOLATING_MESSAGES = 100
-- While keys are missing, at most a hundred groups are tried a second: the more there are, the longer each waits.
local LOCKED_GAP_MS = 10

-- Fields: fence of the reader; ended: fence of the latest reader that is known to have ended; passed: messages that
-- were moved one by one; under_way, reader: the noted message and its reader; failed: readers that died at the first
-- message.
local function read_log_state(log)
  local h = redis.call('HMGET', log.hash, LOG.fence, LOG.ended, LOG.passed, LOG.underWay, LOG.reader,
    LOG.failed)
  return {
    fence = h[1], ended = tonumber(h[2]) or 0, passed = tonumber(h[3]) or 0, under_way = h[4], reader = h[5],
    failed = tonumber(h[6]) or 0,
  }
end

local function is_isolating(log, state)
  return log.group or tonumber(state.fence) - state.ended > 1
end

-- Records that the reader has ended while it handled no message. So its end is not counted against any message.
local function note_end(log, state)
  if state.under_way then redis.call('HDEL', log.hash, LOG.underWay, LOG.reader) end
  if log.group then return end
  if state.passed > 0 then redis.call('HDEL', log.hash, LOG.passed) end
  redis.call('HSET', log.hash, LOG.ended, state.fence)
end

local function note_moved(log, state, moved)
  if moved == 0 then return end
  if state.under_way or state.failed > 0 then redis.call('HDEL', log.hash, LOG.underWay, LOG.reader, LOG.failed) end
  state.under_way, state.failed = false, 0
  if log.group or not is_isolating(log, state) then return end
  state.passed = state.passed + moved
  redis.call('HSET', log.hash, LOG.passed, state.passed)
  if state.passed < ISOLATING_MESSAGES then return end
  -- All messages that the dead reader was handling have been moved.
  state.ended, state.passed = tonumber(state.fence) - 1, 0
  redis.call('HDEL', log.hash, LOG.passed)
  redis.call('HSET', log.hash, LOG.ended, state.ended)
end

local function note_under_way(log, state, id)
  if state.under_way == id and state.reader == state.fence then return end
  redis.call('HSET', log.hash, LOG.underWay, id, LOG.reader, state.fence)
end

local function isolate(base, log, state, entry, till)
  local own = log_of(base, log.uid, string.sub(entry, 17))
  redis.call('LPOP', log.list)
  redis.call('HDEL', log.hash, LOG.failed)
  redis.call('RPUSH', own.list, entry)
  redis.call('HSET', own.hash, LOG.failed, state.failed)
  redis.call('SADD', own.isolated, own.group)
  set_log_due(base, own, till)
  state.failed = 0
end

-- Counts a reader that has died at the log's first message. If the message must then wait, returns its id, how many
-- readers have died at it, and for how many ms it waits.
local function judge_first(base, log, state, now)
  if not state.under_way or state.reader == state.fence then return nil end
  local entry = redis.call('LINDEX', log.list, 0)
  redis.call('HDEL', log.hash, LOG.underWay, LOG.reader)
  if not entry or string.sub(entry, 1, 16) ~= state.under_way then return nil end
  state.under_way, state.failed = false, state.failed + 1
  redis.call('HSET', log.hash, LOG.failed, state.failed)
  local doublings = math.max(0, state.failed - NUMBER.ISOLATED_FROM)
  local delay = math.min(NUMBER.ISOLATION_MS_MAX, NUMBER.ISOLATION_MS_MIN * 2 ^ doublings)
  local isolated = { string.sub(entry, 1, 16), state.failed, delay }
  if log.group then
    set_log_due(base, log, now + delay)
  elseif state.failed >= NUMBER.ISOLATED_FROM then
    isolate(base, log, state, entry, now + delay)
  else
    return nil
  end
  return isolated
end

-- Makes the groups of locked messages wait, each in a log of its own. `ids`: the locked messages among the first `max`.
-- A readable message that comes first in its group is moved into lanes before. Returns when they are tried again.
local function postpone_locked(base, log, ids, max, now)
  local till = now + math.max(NUMBER.LOCKED_MS, redis.call('SCARD', log.isolated) * LOCKED_GAP_MS)
  if log.group then return till end
  local first = {}
  for _, entry in ipairs(redis.call('LRANGE', log.list, 0, max - 1)) do
    local id, group = string.sub(entry, 1, 16), string.sub(entry, 17)
    if ids[id] and not first[group] then
      local own = log_of(base, log.uid, group)
      redis.call('LREM', log.list, 1, entry)
      redis.call('RPUSH', own.list, entry)
      redis.call('SADD', own.isolated, group)
      set_log_due(base, own, till)
    end
    first[group] = first[group] or id
  end
  return till
end

-- Moves the first entries that belong to isolated groups to the logs of these groups. Returns the other first entries.
local function split_off(base, log, entries)
  if log.group or #entries == 0 or redis.call('EXISTS', log.isolated) == 0 then return entries end
  local groups, kept = {}, {}
  for i, entry in ipairs(entries) do
    groups[i] = string.sub(entry, 17)
  end
  local isolated = redis.call('SMISMEMBER', log.isolated, unpack(groups))
  for i, entry in ipairs(entries) do
    if isolated[i] == 1 then
      local own = log_of(base, log.uid, groups[i])
      redis.call('LREM', log.list, 1, entry)
      redis.call('RPUSH', own.list, entry)
    else
      kept[#kept + 1] = entry
    end
  end
  return kept
end

-- Up to max of the log's first entries for its reader. If too many entries of isolated groups come before them, it
-- returns none, and the next read continues.
local function first_entries(base, log, max)
  for _ = 1, NUMBER.WINDOWS_MAX do
    local entries = redis.call('LRANGE', log.list, 0, max - 1)
    local kept = split_off(base, log, entries)
    if #kept > 0 or #entries == 0 then return kept end
  end
  return {}
end
