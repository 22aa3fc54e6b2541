-- Where deliveries are. Changes nothing.
-- KEYS[1] the shard's prefix
-- ARGV    for each: subscription, delivery
-- Returns for each: w waiting, f in flight or a absent; due time of a waiting one or '' (behind another of its group it
--         has none); retry state or ''; of an absent one when its lane was last purged or ''
local SEARCH_MAX = 100000
local base, reply, groups = KEYS[1], {}, {}

-- The group of a message; false where its body is gone.
local function group_of_message(delivery)
  local message = string.sub(delivery, 1, 16)
  if groups[message] == nil then
    local body = redis.call('HGET', base .. 'msg:' .. message, 'b')
    groups[message] = body and cjson.decode(body).groupId or false
  end
  return groups[message]
end

-- One that stands further back than is searched is taken to be there.
local function is_behind(id, delivery)
  if not redis.call('HGET', base .. 'lane:' .. id, 'f') then return false end
  local group = group_of_message(delivery)
  if not group then return false end
  local key = base .. 'behind:' .. id .. ':' .. group
  return redis.call('LPOS', key, delivery, 'MAXLEN', SEARCH_MAX) or redis.call('LLEN', key) > SEARCH_MAX
end

for i = 1, #ARGV, 2 do
  local id, delivery = ARGV[i], ARGV[i + 1]
  local due = redis.call('ZSCORE', base .. 'fresh:' .. id, delivery) or redis.call('ZSCORE', base .. 'retry:' .. id, delivery)
  local flying = not due and redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
  local waits = due or not flying and is_behind(id, delivery)
  reply[#reply + 1] = waits and 'w' or flying and 'f' or 'a'
  reply[#reply + 1] = due or ''
  reply[#reply + 1] = redis.call('HGET', base .. 'state:' .. id, delivery) or ''
  reply[#reply + 1] = not waits and not flying and redis.call('HGET', base .. 'lane:' .. id, 'u') or ''
end
return reply
