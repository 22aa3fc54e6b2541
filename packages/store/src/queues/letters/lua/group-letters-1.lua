-- Groups the dead letters of one page of a queue, by everything that groups are made of.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg from_score: text, cursor; '' from the start
-- @arg from_id: text, cursor; '' from the start
-- @arg looked_at_max: number
-- @arg hour_ms: number
-- @arg samples_max: number, ids of a group
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns false if there is no such queue, or a list:
--   - score and id of the next cursor (both '' at the end)
--   - number of items looked at, and ms of the last of them or ''
--   - groups, each: reason, status or '', subscription, error or '', number of its hour, number of letters, ms of the
--     first and the last death, then ids, each followed by the id of the published message
-- @include queue
-- @include queue-scan
local queue = open_queue(base, arn)
if not queue then return false end
local groups, list = {}, {}

local function group_for(of)
  local hour = math.floor(of.dead_at / hour_ms)
  local error = of.error or ''
  local name = table.concat({ of.reason, of.status, of.subscription, error, hour }, '\n')
  local group = groups[name]
  if not group then
    group = { reason = of.reason, status = of.status, subscription = of.subscription, error = error, hour = hour,
      count = 0, first = of.dead_at, last = of.dead_at, ids = {} }
    groups[name], list[#list + 1] = group, group
  end
  return group
end

local cursor, filter = { score = from_score, id = from_id }, read_filter(filter_json)
local score, id, looked_at, last = scan(queue, cursor, filter, '', looked_at_max, function(item, of)
  if not (of.reason and of.dead_at and of.status and of.subscription) then return false end
  local group = group_for(of)
  group.count = group.count + 1
  group.first, group.last = math.min(group.first, of.dead_at), math.max(group.last, of.dead_at)
  if group.count <= samples_max then
    group.ids[#group.ids + 1] = item
    group.ids[#group.ids + 1] = of.message
  end
  return false
end)
local found = {}
for i, group in ipairs(list) do
  found[i] = { group.reason, group.status, group.subscription, group.error, group.hour, group.count,
    string.format('%.0f', group.first), string.format('%.0f', group.last), unpack(group.ids) }
end
return { score, id, looked_at, last and string.format('%.0f', math.floor(last) - queue.offset) or '', found }
