-- Starts a redrive task, unless its source has an active one.
-- @key base: of the source
-- @arg source: text
-- @arg id: text
-- @arg destination: text, or ''
-- @arg filter: text, JSON
-- @arg action: text, 'redrive' | 'purge'
-- @arg canary: text, messages that go first, or ''
-- @arg edit: text, JSON with a checksum, or ''
-- @arg edited: text, '1' if there is an edit, or ''
-- @arg item: text, the only message that it moves, or '' for all that the filter matches
-- @arg newest: text, highest score (queue-scan.lua)
-- @arg matched: digits
-- @arg rate: text, messages a second, or ''
-- @arg started_by: text, 'portal' or ''
-- Returns 'missing' (no such queue), 'active', 'ending' (the active task gives way when its batch is done), or
--   'created'. For a single item also: 'gone', 'busy' (a consumer has
--   it), 'behind' (an earlier message of its FIFO group is in the queue).
-- @include queue
-- @include redrive
-- @include redrive-end
local queue = open_queue(base, source)
if not queue then return 'missing' end

-- The score of a single item. The scan begins right before it and ends with it. If the item cannot be moved, returns
-- the reason.
local function place_of_single()
  local score = redis.call('ZSCORE', queue.q .. 'age', item)
  if not score then return nil, 'gone' end
  if is_elsewhere(queue, item) then return nil, 'busy' end
  local group = queue.fifo and redis.call('HGET', queue.q .. 'i:' .. item, ITEM.group)
  if group and redis.call('ZRANGE', queue.q .. 'g:' .. group, 0, 0)[1] ~= item then return nil, 'behind' end
  return score
end

local from, to = '', newest
if item ~= '' then
  local score, problem = place_of_single()
  if problem then return problem end
  from, to = score, score
end

-- A running task of a portal session gives way to tasks of others. Returns what is in the way, or nil.
local function make_way()
  local active = redis.call('HGET', base .. 'redriving', source)
  if not active then return nil end
  local key = base .. 'redrive:' .. active
  local starter, status = unpack(redis.call('HMGET', key, TASK.startedBy, TASK.status))
  local gives_way = starter == 'portal' and started_by == '' and (status == 'running' or status == 'canceling')
  if not gives_way then return 'active' end
  local is_busy = redis.call('HEXISTS', key, TASK.items) == 1
  if is_busy then
    redis.call('HSET', key, TASK.status, 'canceling')
  else
    end_task(base, key, 'canceled', '', queue.now)
  end
  redis.call('PUBLISH', 'ft:wake:redrives', active)
  return is_busy and 'ending' or nil
end

local in_the_way = make_way()
if in_the_way then return in_the_way end
redis.call('HSET', base .. 'redrive:' .. id, TASK.id, id, TASK.source, source, TASK.uid, queue.uid,
  TASK.action, action, TASK.destination, destination, TASK.filter, filter, TASK.newest, to, TASK.edit, edit,
  TASK.isEdited, edited,
  TASK.canary, canary, TASK.matched, matched, TASK.maxMessagesPerSecond, rate,
  TASK.status, 'running', TASK.moved, 0, TASK.skipped, 0, TASK.startedAt, queue.now,
  TASK.endedAt, '', TASK.error, '', TASK.fence, 0, TASK.batch, 0, TASK.score, from, TASK.last, '',
  TASK.startedBy, started_by)
redis.call('HSET', base .. 'redriving', source, id)
redis.call('ZADD', base .. 'redrives', 0, id)
redis.call('PUBLISH', 'ft:wake:redrives', id)
return 'created'
