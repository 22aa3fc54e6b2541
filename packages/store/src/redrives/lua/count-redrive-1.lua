-- Counts what a redrive would match, one page.
-- KEYS[1] base
-- ARGV: source, cursor's score and id ('' both: from the start), highest score ('' that of now), max looked at,
--   filter (five values, queue-scan.lua)
-- Returns false where there is no such queue, else: highest score, score and id of the next cursor ('' both: the end),
--   matched, flat counts by subscription, flat counts by status code, time, matched that came from no subscription and
--   no queue.
-- @include now
-- @include queue
-- @include queue-scan
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
local newest = ARGV[4] ~= '' and ARGV[4] or newest_score(queue)
local matched, homeless, subscriptions, statuses = 0, 0, {}, {}

local function add(counts, name) counts[name] = (counts[name] or 0) + 1 end
local function flat(counts)
  local list = {}
  for name, count in pairs(counts) do
    list[#list + 1] = name
    list[#list + 1] = tostring(count)
  end
  return list
end

local cursor, filter = { score = ARGV[2], id = ARGV[3] }, read_filter(unpack(ARGV, 6, 10))
local score, id = scan(queue, cursor, filter, newest, tonumber(ARGV[5]), function(item, subscription, status)
  matched = matched + 1
  if subscription then
    add(subscriptions, subscription)
  elseif not redis.call('HGET', queue.q .. 'i:' .. item, 'x') then
    homeless = homeless + 1
  end
  if status then add(statuses, status) end
  return false
end)
return { newest, score, id, matched, flat(subscriptions), flat(statuses), queue.now, homeless }
