-- Reads a queue in the order of retention, page by page.

-- The highest possible score now. Present items have no higher score, and later ones have.
local function newest_score(queue)
  return redis.call('ZRANGE', queue.q .. 'age', -1, -1, 'WITHSCORES')[2] or string.format('%.0f', queue.clock)
end

-- The rank in `age` of the first item after (score, id), also if that item no longer exists.
local function rank_after(queue, score, id)
  local age = queue.q .. 'age'
  local low = redis.call('ZCOUNT', age, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', age, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('ZRANGE', age, middle, middle)[1] > id then high = middle else low = middle + 1 end
  end
  return low
end

-- Makes a filter of six values: subscription, status code, since, until, JSON array of ids, reason. '' means any.
local function read_filter(subscription, status, since, before, ids, reason)
  local filter = {
    subscription = subscription, status = status, since = tonumber(since), before = tonumber(before), reason = reason,
  }
  if ids ~= '' then
    filter.ids = {}
    for _, id in ipairs(cjson.decode(ids)) do filter.ids[id] = true end
  end
  return filter
end

-- Whether an item passes the filter. Also returns its subscription and status code, false if it has none.
local function passes(queue, filter, id)
  local h = redis.call('HMGET', queue.q .. 'i:' .. id, 'u', 'k', 'e', 'm', 's', 'r')
  local subscription, status, dead_at = h[1], h[2], tonumber(h[3])
  local ok = h[5] and (filter.subscription == '' or filter.subscription == subscription)
    and (filter.status == '' or filter.status == status)
    and (filter.reason == '' or filter.reason == h[6])
    and (not filter.since or (dead_at and dead_at >= filter.since))
    and (not filter.before or (dead_at and dead_at <= filter.before))
    and (not filter.ids or filter.ids[id] or (h[4] and filter.ids[h[4]]))
  return ok, subscription, status
end

-- Calls `visit(id, subscription, status)` for each item that passes the filter, oldest first. It stops when `visit`
-- returns true, or after `max` items. Items with a higher score than `newest` ('' any) and expired items are left out.
-- Returns the cursor's score and id; '' for both at the end.
local function scan(queue, cursor, filter, newest, max, visit)
  local age = queue.q .. 'age'
  local start = redis.call('ZCOUNT', age, '-inf', queue.clock - queue.retention)
  if cursor.score ~= '' then start = math.max(start, rank_after(queue, cursor.score, cursor.id)) end
  local page = redis.call('ZRANGE', age, start, start + max - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local id, score = page[i], page[i + 1]
    if newest ~= '' and tonumber(score) > tonumber(newest) then return '', '' end
    local ok, subscription, status = passes(queue, filter, id)
    if ok and visit(id, subscription, status) then return score, id end
  end
  if #page < max * 2 then return '', '' end
  return page[#page], page[#page - 1]
end
