-- A topic's data in its home shard: its settings, and the free places of its slices.

-- `slices` is a JSON array of subscriptions per slice. All numbers have the same width, so a number can be read and
-- replaced in the text. Decoding and encoding the numbers of ten million subscriptions would block Redis for 4 ms at
-- each change.
local COUNT_WIDTH = 3
local COUNT_STEP = COUNT_WIDTH + 1

local function slices_of(topic)
  return topic.slices == '[]' and 0 or (#topic.slices - 1) / COUNT_STEP
end

local function count_at(topic, number)
  local from = 2 + COUNT_STEP * number
  local count = tonumber(string.sub(topic.slices, from, from + COUNT_WIDTH - 1))
  if not count then error('unreadable slices in ' .. topic.key) end
  return count
end

-- The array with one count replaced, or with one more count at its end.
local function with_count(topic, number, count)
  local text, slices = string.format('%' .. COUNT_WIDTH .. 'd', count), topic.slices
  if slices == '[]' then return '[' .. text .. ']' end
  if number == slices_of(topic) then return string.sub(slices, 1, -2) .. ',' .. text .. ']' end
  local from = 2 + COUNT_STEP * number
  return string.sub(slices, 1, from - 1) .. text .. string.sub(slices, from + COUNT_WIDTH)
end

-- The topic hash as a table. nil: there is no such topic.
local function read_topic(key)
  local h = redis.call('HMGET', key, TOPIC.record, TOPIC.uid, TOPIC.version, TOPIC.rate, TOPIC.retention,
    TOPIC.overrides, TOPIC.slices, TOPIC.free)
  if not h[1] then return nil end
  local topic = {
    key = key, record = h[1], uid = h[2], version = h[3], rate = h[4], retention = h[5], overrides = h[6],
    slices = h[7], free = h[8],
  }
  if slices_of(topic) % 1 ~= 0 then error('unreadable slices in ' .. key) end
  return topic
end

-- Adds one to the first slice with fewer than `max`, or to a new one. Returns its number, or nil if there are
-- `slices_max` already. No slice before `free` has a free place.
local function take_place(topic, max, slices_max)
  local number, slices = tonumber(topic.free) or 0, slices_of(topic)
  local count = 0
  while number < slices do
    count = count_at(topic, number)
    if count < max then break end
    number, count = number + 1, 0
  end
  if number >= slices_max then return nil end
  redis.call('HSET', topic.key, TOPIC.slices, with_count(topic, number, count + 1), TOPIC.free, number)
  return number
end

-- Subtracts one from a slice's count, unless the topic was deleted or replaced. 'deleted': a subscription had the
-- place.
local function release_place(key, uid, number, deleted)
  local topic = read_topic(key)
  if not topic or topic.uid ~= uid then return end
  if deleted then redis.call('HINCRBY', key, TOPIC.deleted, 1) end
  redis.call('HSET', key, TOPIC.slices, with_count(topic, number, count_at(topic, number) - 1))
  if number < (tonumber(topic.free) or 0) then redis.call('HSET', key, TOPIC.free, number) end
end

-- Gives the topic a new revision, and notifies the processes that have loaded it.
local function touch_topic(key, uid, arn, rev)
  if redis.call('HGET', key, TOPIC.uid) == uid then redis.call('HSET', key, TOPIC.revision, rev) end
  redis.call('PUBLISH', 'ft:wake:changes', arn)
end
