-- The log of a FIFO topic stands in `due` beside the lanes, as log:<uid>: now where something in it waits for a reader, at
-- the end of the reader's lease where it has one. Needs lane-next, lane-body, lane-count.
local LOG_LEASE_MS = 3000

-- The uid in a member of `due`, nil where that is a lane.
local function log_in_due(member)
  return string.sub(member, 1, 4) == 'log:' and string.sub(member, 5) or nil
end

-- False where the topic is gone, or another one of that name is there.
local function is_log_open(base, uid, arn)
  return arn and redis.call('HGET', base .. 'topic:' .. arn, 'uid') == uid
end

local function set_log_due(base, uid, at)
  redis.call('ZADD', base .. 'due', text(at), 'log:' .. uid)
end

-- To a new reader, from whose fence on all earlier ones are refused.
local function lend_log(base, uid, now)
  set_log_due(base, uid, now + LOG_LEASE_MS)
  return redis.call('HINCRBY', base .. 'fifo:' .. uid, 'f', 1)
end

-- Its topic has just been deleted: what is in it is dropped by the next take.
local function close_log(base, uid, now)
  if redis.call('EXISTS', base .. 'log:' .. uid) == 1 then
    set_log_due(base, uid, now)
  else
    redis.call('DEL', base .. 'fifo:' .. uid)
  end
end

-- Up to max messages of a deleted topic's log, counted; with the last of them all that the log had. Returns how many.
local function drop_log(base, uid, max, now)
  local entries = redis.call('LPOP', base .. 'log:' .. uid, max) or {}
  for _, entry in ipairs(entries) do
    drop_body(entry)
  end
  count('discarded:topicDeleted', #entries)
  if #entries < max then
    redis.call('ZREM', base .. 'due', 'log:' .. uid)
    redis.call('DEL', base .. 'fifo:' .. uid)
  else
    set_log_due(base, uid, now)
  end
  return #entries
end
