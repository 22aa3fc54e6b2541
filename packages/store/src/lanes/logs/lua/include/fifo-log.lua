-- The log of a FIFO topic is a member of `due`, like a lane. If messages wait for a reader, its time is now. If a
-- reader has it, its time is the end of the reader's lease. An isolated group (fifo-isolation) has a separate log of
-- the same form, also in `due`. While this log exists, all messages of the group go there.
-- @include lane-next
-- @include lane-body
-- @include lane-count
-- How long a FIFO log is lent from its reader's last move on. After it: another reader gets it.
local LOG_LEASE_MS = 3000

-- The topic's own log, or that of an isolated group. `member` is its name in `due`.
local function log_of(base, uid, group)
  local name = group and uid .. ':' .. group or uid
  return {
    uid = uid, group = group, list = base .. 'log:' .. name, hash = base .. 'fifo:' .. name,
    member = (group and 'isolated:' or 'log:') .. name, isolated = base .. 'isolated:' .. uid,
  }
end

-- The log of a member of `due`. nil: the member is a lane.
local function log_in_due(base, member)
  if string.sub(member, 1, 4) == 'log:' then return log_of(base, string.sub(member, 5)) end
  if string.sub(member, 1, 9) ~= 'isolated:' then return nil end
  return log_of(base, string.match(member, '^isolated:([^:]*):(.*)$'))
end

local function arn_of_log(base, log)
  return redis.call('HGET', base .. 'fifo:' .. log.uid, LOG.arn)
end

-- False if the topic is gone, or if another topic has this name now.
local function is_log_open(base, uid, arn)
  return arn and redis.call('HGET', base .. 'topic:' .. arn, TOPIC.uid) == uid
end

local function set_log_due(base, log, at)
  redis.call('ZADD', base .. 'due', text(at), log.member)
end

-- Claims the log for a new reader. The new fence makes all earlier readers stale. The fences of isolated groups come
-- from one counter of the topic. A group that is isolated again therefore never gets a fence that a reader of its
-- earlier log has.
local function claim_log(base, log, now)
  set_log_due(base, log, now + LOG_LEASE_MS)
  if not log.group then return redis.call('HINCRBY', log.hash, LOG.fence, 1) end
  local fence = redis.call('HINCRBY', base .. 'fifo:' .. log.uid, LOG.groupFence, 1)
  redis.call('HSET', log.hash, LOG.fence, fence)
  return fence
end

-- An empty log needs no reader. A group whose log is empty is no longer isolated.
local function end_log(base, log)
  redis.call('ZREM', base .. 'due', log.member)
  if not log.group then return end
  redis.call('DEL', log.hash)
  redis.call('SREM', log.isolated, log.group)
end

-- Called when the topic has just been deleted. The next takes discard its logs.
local function close_log(base, uid, now)
  local own = log_of(base, uid)
  for _, group in ipairs(redis.call('SMEMBERS', own.isolated)) do
    set_log_due(base, log_of(base, uid, group), now)
  end
  if redis.call('EXISTS', own.list) == 1 then
    set_log_due(base, own, now)
  else
    redis.call('DEL', own.hash)
  end
end

-- Removes and counts up to max messages of a deleted topic's log. Removing the last one deletes the log. Returns the
-- number.
local function drop_log(base, log, max, now)
  local entries = redis.call('LPOP', log.list, max) or {}
  for _, entry in ipairs(entries) do
    drop_body(entry)
  end
  count('discarded:topicDeleted', #entries)
  if #entries < max then
    end_log(base, log)
    redis.call('DEL', log.hash)
  else
    set_log_due(base, log, now)
  end
  return #entries
end
