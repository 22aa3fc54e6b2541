-- Counts one page of the messages that a redrive would move.
-- @key base: of the queue's shard
-- @arg source: text
-- @arg from_score: text, cursor; '' from the start
-- @arg from_id: text, cursor; '' from the start
-- @arg newest: text, highest score; '' that of now
-- @arg looked_at_max: number
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns false if there is no such queue, or a list:
--   - highest score
--   - score and id of the next cursor (both '' at the end)
--   - number of matching messages
--   - counts by subscription, and counts by status code, both flat
--   - time
--   - number of matching messages that came from no subscription and no queue
-- @include queue
-- @include queue-scan
local queue = open_queue(base, source)
if not queue then return false end
local highest = newest ~= '' and newest or newest_score(queue)
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

local cursor = { score = from_score, id = from_id }
local filter = read_filter(filter_json)
local score, id = scan(queue, cursor, filter, highest, looked_at_max, function(item, of)
  matched = matched + 1
  if of.subscription then
    add(subscriptions, of.subscription)
  elseif not redis.call('HGET', queue.q .. 'i:' .. item, ITEM.source) then
    homeless = homeless + 1
  end
  if of.status then add(statuses, of.status) end
  return false
end)
return { highest, score, id, matched, flat(subscriptions), flat(statuses), queue.now, homeless }
