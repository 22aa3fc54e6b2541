-- FIFO: which groups have a message to receive, and when the next one will.
-- @include queue

-- At most `max` groups whose first item is visible. The group that has waited longest comes first.
local function ready_groups(queue, max)
  local ready = {}
  local function add(name, before, ahead)
    local found = redis.call('ZRANGEBYSCORE', queue.q .. name, '-inf', before, 'WITHSCORES', 'LIMIT', 0, max)
    for i = 1, #found, 2 do ready[#ready + 1] = { group = found[i], since = tonumber(found[i + 1]) + ahead } end
  end
  -- Ages have a fraction, which keeps their order.
  add('heads', '(' .. string.format('%.17g', queue.clock - queue.delay + 1), queue.delay)
  add('back', queue.clock, 0)
  table.sort(ready, function(a, b) return a.since < b.since or a.since == b.since and a.group < b.group end)
  local groups = {}
  for i = 1, math.min(#ready, max) do groups[i] = ready[i].group end
  return groups
end

local function flying(queue)
  return redis.call('ZCOUNT', queue.q .. 'flight', '(' .. string.format('%.17g', queue.clock), '+inf')
end

-- Ms until something can be received if no new message comes: 0 now, -1 never. `full`: too many messages are in flight,
-- so one of them must become visible again first.
local function next_in_order(queue, full)
  local earliest
  local function consider(at)
    if at and at < NEVER_BACK and (not earliest or at < earliest) then earliest = at end
  end
  local function first(name) return tonumber(redis.call('ZRANGE', queue.q .. name, 0, 0, 'WITHSCORES')[2]) end
  consider(first('moving'))
  if full then
    local after = '(' .. string.format('%.17g', queue.clock)
    consider(tonumber(redis.call('ZRANGEBYSCORE', queue.q .. 'flight', after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]))
  else
    local head = first('heads')
    consider(head and math.floor(head) + queue.delay)
    consider(first('back'))
  end
  return earliest and math.max(math.ceil(earliest - queue.clock), 0) or -1
end
