-- Fair queues: the groups that take too much of the consumers are noisy, and step back behind all others. Their
-- messages come when nothing quieter is visible, so consumers never wait beside a visible message. A message without a
-- group is a group of its own, which is never noisy. The rules are those of SQS.
-- @include queue-fair-order
-- Messages in flight from which on a group is noisy by its share of them.
local NOISY_IN_FLIGHT_MIN = 30
-- Share of the messages in flight, or of the processing time, above which a group is noisy.
local NOISY_SHARE = 0.1
-- Mean number in flight from which on a group is noisy by its share of the processing time. It is about a second of
-- work in the last minute. Below it, a few messages would decide.
local NOISY_MEAN_MIN = 0.02
-- Noisy groups that one script looks at. By their shares there are at most 18 at a time. Past it: the others wait for
-- a later receive.
local NOISY_MAX = 32

local function is_noisy(queue, group)
  local own, all = busy_of(queue, group), busy_of(queue, '')
  return own.n >= NOISY_IN_FLIGHT_MIN and own.n > all.n * NOISY_SHARE
    or own.mean >= NOISY_MEAN_MIN and own.mean > all.mean * NOISY_SHARE
end

local function noisy_groups(queue)
  return redis.call('ZRANGE', queue.q .. 'noisy', 0, NOISY_MAX - 1)
end

local function first_in(queue, group)
  return redis.call('ZRANGE', queue.q .. 'g:' .. group, 0, 0)[1]
end

local function change_line(queue, group, from, to)
  redis.call('ZADD', queue.q .. to, redis.call('ZSCORE', queue.q .. from, group), group)
  redis.call('ZREM', queue.q .. from, group)
end

-- The item that became visible first, without those of noisy groups, and its group. nil: there is none. Groups that
-- have become noisy step back, and are added to `noisy`.
local function first_quiet(queue, noisy)
  local alone = redis.call('ZRANGE', queue.q .. 'ready', 0, 0, 'WITHSCORES')
  while true do
    local group, due = unpack(redis.call('ZRANGE', queue.q .. 'heads', 0, 0, 'WITHSCORES'))
    if not group or alone[1] and tonumber(alone[2]) <= tonumber(due) then return alone[1] end
    if is_noisy(queue, group) then
      change_line(queue, group, 'heads', 'noisy')
      noisy[#noisy + 1] = group
    else
      local id = first_in(queue, group)
      if id then return id, group end
      line_up(queue, group)
    end
  end
end

-- The first item of the noisy group with the fewest messages in flight, or of those the least processing time.
local function first_noisy(queue, noisy)
  local least
  for _, group in ipairs(noisy) do
    local own, other = busy_of(queue, group), least and busy_of(queue, least)
    local is_less = not other or own.n < other.n or own.n == other.n and own.mean < other.mean
    if is_less and redis.call('EXISTS', queue.q .. 'g:' .. group) == 1 then least = group end
  end
  return least and first_in(queue, least), least
end

-- Calls `take(id, group)` for up to `max` visible items. `take` removes the item from its line.
local function take_fairly(queue, max, take)
  local noisy = {}
  for _, group in ipairs(noisy_groups(queue)) do
    if is_noisy(queue, group) then noisy[#noisy + 1] = group else change_line(queue, group, 'noisy', 'heads') end
  end
  for _ = 1, max do
    local id, group = first_quiet(queue, noisy)
    if not id then id, group = first_noisy(queue, noisy) end
    if not id then return end
    take(id, group)
  end
end

-- How many groups with visible messages are noisy, how many messages of quiet groups are visible and in flight, and
-- which visible one came first or nil. `visible` and `busy` are the numbers of the whole queue.
local function quiet_figures(queue, visible, busy)
  local noisy, lines = 0, { 'ready' }
  local first_group = redis.call('ZRANGE', queue.q .. 'heads', 0, 0)[1]
  if first_group then lines[2] = 'g:' .. first_group end
  for _, group in ipairs(noisy_groups(queue)) do
    if is_noisy(queue, group) then
      noisy = noisy + 1
      visible = visible - redis.call('ZCARD', queue.q .. 'g:' .. group)
      busy = busy - busy_of(queue, group).n
    else
      lines[#lines + 1] = 'g:' .. group
    end
  end
  local first, first_due
  for _, line in ipairs(lines) do
    local head = redis.call('ZRANGE', queue.q .. line, 0, 0, 'WITHSCORES')
    local due = tonumber(head[2])
    if due and (not first_due or due < first_due) then first, first_due = head[1], due end
  end
  return noisy, math.max(visible, 0), math.max(busy, 0), first
end
