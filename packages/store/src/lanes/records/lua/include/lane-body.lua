-- Bodies are stored once per shard, with a count of the deliveries that refer to them. A script collects its removals,
-- and subtracts them once per message. Each topic's bytes are counted too: its bodies, and about ENTRY_BYTES for every
-- delivery.
local ENTRY_BYTES = 150
local dropped = {}

local function add_topic_bytes(base, topic, bytes)
  local key = base .. 'topicbytes'
  if redis.call('HINCRBY', key, topic, bytes) <= 0 then redis.call('HDEL', key, topic) end
end

local function keep_body(base, message, body, n, topic)
  local key, bytes = base .. 'msg:' .. message, n * ENTRY_BYTES
  if redis.call('HSETNX', key, BODY.json, body) == 1 then
    redis.call('HSET', key, BODY.topic, topic)
    bytes = bytes + #body
  end
  redis.call('HINCRBY', key, BODY.references, n)
  add_topic_bytes(base, topic, bytes)
end

local function drop_body(delivery)
  local message = string.sub(delivery, 1, 16)
  dropped[message] = (dropped[message] or 0) + 1
end

-- Adds n references to a message that has some; n may be negative.
local function refer(message, n)
  if n ~= 0 then dropped[message] = (dropped[message] or 0) - n end
end

local function write_drops(base)
  for message, n in pairs(dropped) do
    local key, bytes = base .. 'msg:' .. message, n * ENTRY_BYTES
    local topic = redis.pcall('HGET', key, BODY.topic)
    if type(topic) == 'table' then
      -- Data of another type is under the key, so no delivery can have a body there.
      topic = nil
      redis.call('DEL', key)
    elseif redis.call('HINCRBY', key, BODY.references, -n) <= 0 then
      bytes = bytes + redis.call('HSTRLEN', key, BODY.json)
      redis.call('DEL', key)
    end
    if topic then add_topic_bytes(base, topic, -bytes) end
  end
end
