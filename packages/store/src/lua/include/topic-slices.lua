-- What a topic's home shard knows: its settings and its places.

-- The topic hash as a table, or nil where there is no such topic.
local function read_topic(key)
  local names = { 'record', 'uid', 'v', 'rate', 'ret', 'ovr', 'slices' }
  local values, topic = redis.call('HMGET', key, unpack(names)), {}
  if not values[1] then return nil end
  for i, name in ipairs(names) do topic[name] = values[i] end
  local readable, counts = pcall(cjson.decode, topic.slices)
  if not readable then error('corrupt JSON in ' .. key .. ' slices') end
  topic.counts = counts
  return topic
end

-- Takes one off a slice's count, unless the topic is gone or another one by now; 'deleted' where a subscription had it.
local function release_place(key, uid, number, deleted)
  local topic = read_topic(key)
  if not topic or topic.uid ~= uid then return end
  if deleted then redis.call('HINCRBY', key, 'deleted', 1) end
  topic.counts[number + 1] = topic.counts[number + 1] - 1
  redis.call('HSET', key, 'slices', cjson.encode(topic.counts))
end

-- Marks the topic as changed and tells whoever has loaded it.
local function touch_topic(key, uid, arn, rev)
  if redis.call('HGET', key, 'uid') == uid then redis.call('HSET', key, 'rev', rev) end
  redis.call('PUBLISH', 'ft:wake:changes', arn)
end
