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
  if ring then ring.last = tonumber(redis.call('HGET', ring.notes, KEPT.last)) or 0 end
  rings[arn] = ring
  return ring
end

local function add(ring, id, body)
  local bytes = #body + KEPT_ENTRY_BYTES
  if bytes > ring.bytes_max or redis.call('HSETNX', ring.bodies, id, body) == 0 then return end
  ring.last = math.max(now * KEPT_STEPS, ring.last + 1)
  redis.call('ZADD', ring.order, string.format('%.0f', ring.last), id)
  ring.filled = ring.filled + bytes
  added = added + 1
end

for arn, uid, id, body in messages() do
  local ring = ring_of(arn, uid)
  if ring then add(ring, id, body) end
end
for _, ring in pairs(rings) do
  if ring then
    redis.call('HSET', ring.notes, KEPT.last, string.format('%.0f', ring.last))
    trim_ring(ring, now, 0)
  end
end
return added
