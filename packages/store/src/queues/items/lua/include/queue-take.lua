-- Messages that become visible with time, and messages on their way to a dead-letter queue.
-- @include queue
-- @include queue-fair-order

local COUNT_DIGITS = 15

-- Makes items visible whose time in flight or delay is over, at most `max` of each.
local function promote(queue, max)
  for _, place in ipairs({ 'flight', 'delayed' }) do
    local key = queue.q .. place
    local due = redis.call('ZRANGEBYSCORE', key, '-inf', queue.clock, 'WITHSCORES', 'LIMIT', 0, max)
    for i = 1, #due, 2 do
      local group = group_in(queue, due[i])
      redis.call('ZREM', key, due[i])
      join_line(queue, due[i], group, due[i + 1])
      if group and place == 'flight' then count_busy(queue, group, -1) end
    end
  end
end

-- Whether a receive can count this item. If not, it is returned uncounted, and the caller moves it to the quarantine.
local function is_countable(count)
  return count and #count <= COUNT_DIGITS and string.match(count, '^%d+$')
end

-- Whether an item must go to the dead-letter queue now: it was received as often as the redrive policy allows, and no
-- move of it has failed (`failed`). Only receives in this queue count (`before`: the number when it came here).
local function used_up(queue, count, before, failed)
  return queue.receives and not failed and tonumber(count) - (tonumber(before) or 0) >= queue.receives
end

-- Notes that an item is on its way to the dead-letter queue. The caller appends it there by its id, and then forgets it
-- here. If that has not happened at the end of the lease, the next receive or sweep returns it again. Thousandths of
-- `n` keep the order of items that move together. `group`: of a visible item in a standard queue.
local function start_move(queue, id, n, group)
  leave_line(queue, id, group)
  redis.call('ZADD', queue.q .. 'moving', queue.clock + NUMBER.MOVE_MS + n / 1000, id)
  if queue.fifo then
    redis.call('HDEL', queue.q .. 'i:' .. id, ITEM.digests)
    hide_in_group(queue, id, NEVER_BACK)
  end
  return item_of(queue, id)
end

-- Returns at most `max` moves whose lease has ended, with new leases.
local function overdue_moves(queue, max)
  local moves = {}
  local due = redis.call('ZRANGEBYSCORE', queue.q .. 'moving', '-inf', queue.clock, 'LIMIT', 0, max)
  for _, id in ipairs(due) do moves[#moves + 1] = start_move(queue, id, #moves) end
  return moves
end

-- Ms until something can be received from a standard queue if no new message comes: 0 now, -1 never.
local function next_visible(queue, full)
  if not full and is_any_visible(queue) then return 0 end
  local earliest
  for _, place in ipairs({ 'flight', 'delayed', 'moving' }) do
    local head = tonumber(redis.call('ZRANGE', queue.q .. place, 0, 0, 'WITHSCORES')[2])
    if head and (not earliest or head < earliest) then earliest = head end
  end
  return earliest and math.max(math.ceil(earliest - queue.clock), 0) or -1
end
