-- Reads a queue in the order of retention, page by page.
-- @include queue

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

-- Reads a filter, a JSON object. Members that it lacks mean any: subscription, topic, status ('' no answer), error
-- ('' none), since, till, reason, ids (a list), among (a list of subscriptions), under (the beginning of their ARNs),
-- apart (a list of topics that do not pass).
local function read_filter(json)
  local filter = cjson.decode(json)
  if filter.topic then filter.topic = filter.topic .. ':' end
  for _, list in ipairs({ 'ids', 'among', 'apart' }) do
    if filter[list] then
      local members = {}
      for _, member in ipairs(filter[list]) do members[member] = true end
      filter[list] = members
    end
  end
  return filter
end

-- The members of an item that filters and groups read. nil: the item is gone, or cannot be read.
local function facts_of(queue, id)
  local h = members_of(queue, id, ITEM.sentAt, ITEM.subscription, ITEM.statusCode, ITEM.deadAt, ITEM.message,
    ITEM.reason, ITEM.lastError)
  if not h[1] then return nil end
  return { subscription = h[2], status = h[3], dead_at = tonumber(h[4]), message = h[5], reason = h[6], error = h[7] }
end

local function begins_with(subscription, beginning)
  return subscription and string.sub(subscription, 1, #beginning) == beginning
end

local function passes(filter, id, of)
  return (not filter.subscription or filter.subscription == of.subscription)
    and (not filter.topic or begins_with(of.subscription, filter.topic))
    and (not filter.under or begins_with(of.subscription, filter.under))
    and (not filter.apart or not of.subscription or not filter.apart[string.match(of.subscription, '^(.*):')])
    and (not filter.among or (of.subscription and filter.among[of.subscription]))
    and (not filter.status or filter.status == of.status)
    and (not filter.error or (of.reason and filter.error == (of.error or '')))
    and (not filter.reason or filter.reason == of.reason)
    and (not filter.since or (of.dead_at and of.dead_at >= filter.since))
    and (not filter.till or (of.dead_at and of.dead_at <= filter.till))
    and (not filter.ids or filter.ids[id] or (of.message and filter.ids[of.message]))
end

-- Calls `visit(id, facts)` for each item that passes the filter, oldest first. It stops when `visit` returns true, or
-- after `max` items. Items with a higher score than `newest` ('' any) and expired items are left out. Returns the
-- cursor's score and id ('' for both at the end), then the number of items looked at and the score of the last one.
local function scan(queue, cursor, filter, newest, max, visit)
  local age = queue.q .. 'age'
  local start = redis.call('ZCOUNT', age, '-inf', queue.clock - queue.retention)
  if cursor.score ~= '' then start = math.max(start, rank_after(queue, cursor.score, cursor.id)) end
  local page = redis.call('ZRANGE', age, start, start + max - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local id, score = page[i], page[i + 1]
    if newest ~= '' and tonumber(score) > tonumber(newest) then return '', '', (i - 1) / 2, page[i - 1] end
    local facts = facts_of(queue, id)
    if facts and passes(filter, id, facts) and visit(id, facts) then return score, id, (i + 1) / 2, score end
  end
  if #page < max * 2 then return '', '', #page / 2, page[#page] end
  return page[#page], page[#page - 1], #page / 2, page[#page]
end
