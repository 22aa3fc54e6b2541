-- Adds messages to the ring of a topic. The caller writes their bodies in the same transaction, before this script: Lua
-- would read each byte of a body twice. A message that is in the ring already is not added again, so a call may be
-- repeated. The ring then loses the messages that are too old or exceed its bytes.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg entries: text, 20 bytes for each message: its id and the length of its body
-- Returns the number of messages added.
-- @include now
-- @include when-full
-- @include kept
local ring = open_ring(base, arn, uid)
if not ring then
  drop_ring(base, arn, uid)
  return 0
end
if ring.archive then run_when_full(base) end
local now, added = now_ms(base), 0
local last = math.max(now * NUMBER.KEPT_STEPS - 1, tonumber(redis.call('HGET', ring.notes, KEPT.last)) or 0)

local function drop_too_large(id)
  if not redis.call('ZSCORE', ring.order, id) then redis.call('HDEL', ring.bodies, id) end
end

-- A message that was in the ring before has another score.
local function add_new(places, bytes)
  local ids = {}
  for i = 2, #places, 2 do ids[#ids + 1] = places[i] end
  for i, score in ipairs(redis.call('ZMSCORE', ring.order, unpack(ids))) do
    if tonumber(score) == tonumber(places[2 * i - 1]) then
      ring.filled, added = ring.filled + bytes[i], added + 1
    end
  end
end

local function add(places, bytes, filled)
  if #bytes == 0 then return end
  if redis.call('ZADD', ring.order, 'NX', unpack(places)) < #bytes then return add_new(places, bytes) end
  ring.filled, added = ring.filled + filled, added + #bytes
end

local places, bytes, filled, count = {}, {}, 0, 0
for at = 1, #entries, NUMBER.PLACE_BYTES do
  local id, length = struct.unpack('>c16I4', entries, at)
  local fills = kept_bytes(length)
  if fills > ring.bytes_max and not ring.archive then
    drop_too_large(id)
  else
    last, count, filled = last + 1, count + 1, filled + fills
    bytes[count], places[2 * count - 1], places[2 * count] = fills, string.format('%d', last), id
  end
  if count == KEPT_CHUNK then
    add(places, bytes, filled)
    places, bytes, filled, count = {}, {}, 0, 0
  end
end
add(places, bytes, filled)
redis.call('HSET', ring.notes, KEPT.last, string.format('%d', last))
trim_ring(ring, now, ring.bytes_max)
return added
