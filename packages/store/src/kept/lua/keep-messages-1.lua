-- Adds messages to the rings of their topics. A message that is in its ring already changes nothing, so a call may be
-- repeated. Each ring then loses the messages that are too old or exceed its bytes.
-- @key base: of the topics' home shard
-- @list messages
-- @item arn: text
-- @item uid: text
-- @item id: text, 16 bytes
-- @item body: text
-- Returns the number of messages added.
-- @include now
-- @include kept
local now, rings, added = now_ms(base), {}, 0

local function ring_of(arn, uid)
  if rings[arn] ~= nil then return rings[arn] end
  local ring = open_ring(base, arn, uid) or false
  if ring then
    ring.last = tonumber(redis.call('HGET', ring.notes, KEPT.last)) or 0
    ring.ids, ring.texts = {}, {}
  end
  rings[arn] = ring
  return ring
end

-- A few commands for all of them: one command each would be most of the script's time.
local function write_gathered(ring)
  if #ring.ids == 0 then return end
  local scores = redis.call('ZMSCORE', ring.order, unpack(ring.ids))
  local fields, places, seen = {}, {}, {}
  for i, id in ipairs(ring.ids) do
    if not scores[i] and not seen[id] then
      seen[id] = true
      ring.last = math.max(now * KEPT_STEPS, ring.last + 1)
      places[#places + 1] = string.format('%.0f', ring.last)
      places[#places + 1] = id
      fields[#fields + 1] = id
      fields[#fields + 1] = ring.texts[i]
      ring.filled = ring.filled + kept_bytes(#ring.texts[i])
      added = added + 1
    end
  end
  ring.ids, ring.texts = {}, {}
  if #fields == 0 then return end
  redis.call('HSET', ring.bodies, unpack(fields))
  redis.call('ZADD', ring.order, unpack(places))
end

for arn, uid, id, body in messages() do
  local ring = ring_of(arn, uid)
  if ring and kept_bytes(#body) <= ring.bytes_max then
    ring.ids[#ring.ids + 1], ring.texts[#ring.texts + 1] = id, body
    if #ring.ids == KEPT_CHUNK then write_gathered(ring) end
  end
end
for _, ring in pairs(rings) do
  if ring then
    write_gathered(ring)
    redis.call('HSET', ring.notes, KEPT.last, string.format('%.0f', ring.last))
    trim_ring(ring, now, 0)
  end
end
return added
