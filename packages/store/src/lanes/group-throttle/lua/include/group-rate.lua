-- The throttle of message groups, beside that of the lane. `lane.groups` has the rates: `<rate of every group or ''>`,
-- a tab, then `<group>=<rate>` and a tab for each group with a rate of its own. '-' has no rates: they were removed
-- while deliveries lay on shelves.
--
-- Sorted set `tats:<lane>`: group → tat. It has only groups whose tat has not passed, and expires after the last tat.
--
-- A due delivery whose group has no send time yet goes to the shelf of its group. It stays in its set, with a score
-- above all times: the number of the shelf times SHELF_SPAN, plus its due time since SHELF_EPOCH. A backlog of one
-- group is thus not in the way of others, and a take finds the first delivery of each group. Sorted sets
-- `shelves:<lane>` (group → number) and `shelved:<lane>` (group → when its next delivery may come down) exist while
-- something lies on a shelf.
--
-- In a FIFO lane only the heads of groups are in the sets, so a head becomes due later instead.
-- @include lane-next
-- @include lane-throttle
-- @include lane-group
-- @include lane-state
local by_group = {}

-- A block, because a script may have at most 200 local names.
do
  local SHELF_SPAN, SHELF_EPOCH, SHELF_FIRST = 1099511627776, 1500000000000, 8
  -- Groups of a lane with a shelf. Past it: deliveries of further groups are due at the next send time of their group.
  local SHELVES_MAX = 8000
  -- Groups whose shelves one take looks at. Past it: the next take looks at the others.
  local SHELF_GROUPS_MAX = 32
  -- Deliveries that one take brings down from shelves. Past it: the next take continues.
  local BROUGHT_DOWN_MAX = 100
  -- Deliveries of a shelf that one step of the sweep looks at. Past it: a later step looks at the others.
  local OLD_LOOKED_AT_MAX = 16
  -- How long after a take a head is due again, at least, if its group has no send time yet.
  local LATER_MS = 50
  -- How long the tats of a lane are kept after the last of them.
  local TATS_KEPT_MS = 1000

  local function rate_of_group(lane, name)
    local _, at = string.find(lane.groups, '\t' .. name .. '=', 1, true)
    return tonumber(string.match(lane.groups, '[^\t]*', at and at + 1 or 1))
  end

  -- The throttle of a group: `gap` between two send times, and `tat`. false: it has none. `from`: the earliest send
  -- time.
  local function group_at(base, id, lane, name, now, from)
    lane.by_name = lane.by_name or {}
    if lane.by_name[name] ~= nil then return lane.by_name[name] end
    local rate, group = rate_of_group(lane, name), false
    if rate then
      local gap, tat = 1000 / rate, tonumber(redis.call('ZSCORE', base .. 'tats:' .. id, name)) or 0
      -- The clock was set back, or the rate was lower (set_rate).
      local is_past = tat > now + NUMBER.STORED_AHEAD_MAX_MS + gap
      if is_past then tat = now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(base) + gap end
      group = { name = name, gap = gap, tat = math.max(tat, from), moved = is_past }
      group.next = group.tat
    end
    lane.by_name[name] = group
    return group
  end

  -- The throttle of the delivery's group. nil or false: there is none.
  function by_group.find(base, id, lane, delivery, now, from)
    local name
    if lane.fifo then
      name = group_of(base, id, delivery)
    else
      name = redis.pcall('HGET', base .. 'msg:' .. string.sub(delivery, 1, 16), BODY.group)
    end
    return type(name) == 'string' and group_at(base, id, lane, name, now, from)
  end

  -- Stores the tats that have moved.
  function by_group.keep_tats(base, id, lane, now)
    local key, moved = base .. 'tats:' .. id, false
    for name, group in pairs(lane.by_name or {}) do
      if group and group.moved then
        redis.call('ZADD', key, text(group.tat), name)
        moved = true
      end
    end
    if not moved then return end
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
    local last = tonumber(redis.call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2])
    if last then redis.call('PEXPIRE', key, text(math.ceil(last - now) + TATS_KEPT_MS)) end
  end

  -- The lowest number that no shelf has. nil: all are taken.
  local function free_shelf(key)
    local low, high = 0, redis.call('ZCARD', key)
    if high >= SHELVES_MAX then return nil end
    while low < high do
      local middle = math.floor((low + high) / 2)
      local number = tonumber(redis.call('ZRANGE', key, text(middle), text(middle), 'WITHSCORES')[2])
      if number > SHELF_FIRST + middle then high = middle else low = middle + 1 end
    end
    return SHELF_FIRST + low
  end

  local function shelf_of(base, id, name)
    local key = base .. 'shelves:' .. id
    local number = tonumber(redis.call('ZSCORE', key, name))
    if number then return number end
    local last = tonumber(redis.call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2])
    number = last and last + 1 or SHELF_FIRST
    if number >= SHELF_FIRST + SHELVES_MAX then number = free_shelf(key) end
    if number then redis.call('ZADD', key, text(number), name) end
    return number
  end

  -- Puts a due delivery aside, because its group has no send time yet.
  local function put_aside(take, id, lane, set, delivery, group)
    local base, key = take.base, take.base .. set .. ':' .. id
    local number = not lane.fifo and shelf_of(base, id, group.name)
    if not number then
      redis.call('ZADD', key, text(math.max(take_time(base, group.next), take.now + LATER_MS)), delivery)
      return
    end
    local since = math.floor(tonumber(redis.call('ZSCORE', key, delivery))) - SHELF_EPOCH
    redis.call('ZADD', key, text(number * SHELF_SPAN + math.max(0, math.min(since, SHELF_SPAN - 1))), delivery)
    redis.call('ZADD', base .. 'shelved:' .. id, text(group.next), group.name)
  end

  -- When a delivery on a shelf was due.
  function by_group.due_on_shelf(score)
    return tonumber(score) % SHELF_SPAN + SHELF_EPOCH
  end

  -- Makes up to `max` deliveries with these scores due again. Returns how many.
  local function bring_down(base, id, lane, from, to, max)
    local n = 0
    -- Retries come first as often as among other deliveries (lane-pick.lua).
    for _, set in ipairs(lane.claims_modulo == 0 and { 'retry', 'fresh' } or { 'fresh', 'retry' }) do
      local key = base .. set .. ':' .. id
      local left = text(max - n)
      local found = n < max and redis.call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES', 'LIMIT', '0', left) or {}
      for i = 1, #found, 2 do redis.call('ZADD', key, text(by_group.due_on_shelf(found[i + 1])), found[i]) end
      n = n + #found / 2
    end
    return n
  end

  local function bring_down_from(base, id, lane, number, max)
    return bring_down(base, id, lane, text(number * SHELF_SPAN), '(' .. text((number + 1) * SHELF_SPAN), max)
  end

  -- Brings as many deliveries of a group down as have a send time now. Returns how many.
  local function clear_shelf(take, id, lane, name, left)
    local base, limit = take.base, take.now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(take.base)
    local group = group_at(base, id, lane, name, take.now, take.now + (take.lead_ms or 0))
    local wanted = left
    if group then wanted = math.max(0, math.min(left, math.floor((limit - group.tat) / group.gap) + 1)) end
    local number = redis.call('ZSCORE', base .. 'shelves:' .. id, name)
    local n = number and wanted > 0 and bring_down_from(base, id, lane, tonumber(number), wanted) or 0
    if not number or n < wanted then
      for _, key in ipairs({ 'shelves:', 'shelved:' }) do redis.call('ZREM', base .. key .. id, name) end
    elseif group then
      redis.call('ZADD', base .. 'shelved:' .. id, text(group.tat + n * group.gap), name)
    end
    return n
  end

  -- Brings down what lies on shelves that nobody knows, because data were lost or the rates were removed.
  local function clear_unknown(take, id, lane)
    if redis.call('EXISTS', take.base .. 'shelved:' .. id) == 1 then return end
    local n = bring_down(take.base, id, lane, text(SHELVED_FROM), '+inf', BROUGHT_DOWN_MAX)
    if n == 0 and lane.groups == NO_GROUPS then redis.call('HDEL', take.base .. 'lane:' .. id, LANE.groupRates) end
  end

  -- Brings down the deliveries whose groups have send times now.
  function by_group.clear_shelves(take, id, lane)
    local limit, left = take.now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(take.base), BROUGHT_DOWN_MAX
    local names = redis.call('ZRANGEBYSCORE', take.base .. 'shelved:' .. id, '-inf', text(limit), 'LIMIT', '0',
      text(SHELF_GROUPS_MAX))
    for _, name in ipairs(names) do
      if left > 0 then left = left - clear_shelf(take, id, lane, name, left) end
    end
    if #names == 0 then clear_unknown(take, id, lane) end
  end

  -- The position of the candidate that can be sent first, and its send time. Equal ones keep their order. `next`: the
  -- lane's next send time, or false without a throttle of the lane.
  local function first_to_send(candidates, next, from)
    local best, best_at
    for i, one in ipairs(candidates) do
      local at = math.max(next or from, one.group and one.group.next or 0)
      if not best or at < best_at then best, best_at = i, at end
      if not next or at <= next then break end
    end
    return best, best_at
  end

  -- The due deliveries in the order in which they may be claimed: `share` retries first (lane-pick.lua). Those whose
  -- groups have no send time now are put aside. Also returns how many those are.
  local function candidates_of(take, id, lane, due, limit)
    local found, aside = {}, 0
    local function add(set, delivery, state)
      local group = not is_dead(state)
        and by_group.find(take.base, id, lane, delivery, take.now, take.now + take.lead_ms)
      if group and group.tat > limit then
        aside = aside + 1
        put_aside(take, id, lane, set, delivery, group)
      else
        found[#found + 1] = { set = set, delivery = delivery, state = state, group = group }
      end
    end
    for i = 1, due.share do add('retry', due.retries[i], due.states[i]) end
    for _, delivery in ipairs(due.fresh) do add('fresh', delivery) end
    for i = due.share + 1, #due.retries do add('retry', due.retries[i], due.states[i]) end
    return found, aside
  end

  -- Chooses at most `max` due deliveries, and their send times into lane.sends. A group that must wait for its own send
  -- time leaves those of the lane to others. Returns the fresh ones, the retries and their states, and how many were
  -- put aside.
  function by_group.pass(take, id, lane, due, max)
    local from, limit = take.now + take.lead_ms, take.now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(take.base)
    local candidates, aside = candidates_of(take, id, lane, due, limit)
    local passed, states, next, n = { fresh = {}, retry = {} }, {}, lane.rate and lane.tat, 0
    lane.sends = lane.sends or {}
    for _, group in pairs(lane.by_name or {}) do
      if group then group.next = group.tat end
    end
    while n < max do
      local at, send = first_to_send(candidates, next, from)
      if not at or next and send > limit then break end
      local one = table.remove(candidates, at)
      local group, is_sent = one.group, not is_dead(one.state)
      if group and send > limit then
        aside = aside + 1
        put_aside(take, id, lane, one.set, one.delivery, group)
      else
        n = n + 1
        table.insert(passed[one.set], one.delivery)
        if one.set == 'retry' then states[#states + 1] = one.state or false end
        if is_sent and (group or next) then lane.sends[one.delivery] = { at = send, group = group } end
        if group then group.next = send + group.gap end
        if is_sent and next then next = send + 1000 / lane.rate end
      end
    end
    return passed.fresh, passed.retry, states, aside
  end

  -- Puts due deliveries aside whose groups have no send time now, without claiming others. Returns how many were read.
  function by_group.pass_over(take, id, lane, max)
    local read_count, limit = 0, take.now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(take.base)
    for _, set in ipairs({ 'fresh', 'retry' }) do
      local key = take.base .. set .. ':' .. id
      local ids = redis.call('ZRANGEBYSCORE', key, '-inf', text(take.now), 'LIMIT', '0', text(max))
      local states = set == 'retry' and #ids > 0 and redis.call('HMGET', take.base .. 'state:' .. id, unpack(ids)) or {}
      for i, delivery in ipairs(ids) do
        local group = not is_dead(states[i])
          and by_group.find(take.base, id, lane, delivery, take.now, take.now + take.lead_ms)
        if group and group.tat > limit then
          group.next = group.tat
          put_aside(take, id, lane, set, delivery, group)
        end
      end
      read_count = read_count + #ids
    end
    return read_count
  end

  -- For the sweep: brings down deliveries of some groups that are too old, so that they expire.
  function by_group.bring_down_old(take, id, lane, is_too_old)
    local n = 0
    local names = redis.call('ZRANDMEMBER', take.base .. 'shelves:' .. id, text(SHELF_GROUPS_MAX))
    for _, name in ipairs(names) do
      local number = tonumber(redis.call('ZSCORE', take.base .. 'shelves:' .. id, name))
      local from, to = text(number * SHELF_SPAN), '(' .. text((number + 1) * SHELF_SPAN)
      for _, set in ipairs({ 'fresh', 'retry' }) do
        local key = take.base .. set .. ':' .. id
        local found = redis.call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES', 'LIMIT', '0', text(OLD_LOOKED_AT_MAX))
        for i = 1, #found, 2 do
          if is_too_old(found[i]) then
            redis.call('ZADD', key, text(by_group.due_on_shelf(found[i + 1])), found[i])
            n = n + 1
          end
        end
      end
    end
    return n
  end
end
