-- The ring of messages that a topic keeps, in the topic's home shard (keys.ts). A ring is bounded by the age and the
-- bytes that its topic allows, so a change of the topic acts at once.

-- Bytes that Redis uses for a message beside its body: field and id, and entries of hash and sorted set. Measured as
-- growth of used_memory (Redis 7.0, jemalloc 5.3) in rings of 1,000 to 10,000 messages of 100 bytes to 60 KB: 199 to
-- 221. kept-messages.test.ts measures it again.
local KEPT_ENTRY_BYTES = 215
-- Bytes that Redis writes before and after a body.
local KEPT_FRAME_BYTES = 6
-- @limit Messages that one script removes from a ring. Past it: the next script continues.
local KEPT_REMOVED_MAX = 1000
local KEPT_CHUNK = 100
-- A ring that loses nothing reads so many messages. Further reads are five times as large as the one before.
local KEPT_FIRST_CHUNK = 4
-- A score is the time of keeping in ms times this number, plus a number that makes it rise with every message.
local KEPT_STEPS = 2048

-- The bytes that a message fills. jemalloc has four sizes between two powers of two, and rounds a body up to the next.
local function kept_bytes(body_bytes)
  local bytes = body_bytes + KEPT_FRAME_BYTES
  local _, exponent = math.frexp(bytes - 1)
  local step = 2 ^ (exponent - 3)
  return math.ceil(bytes / step) * step + KEPT_ENTRY_BYTES
end

local function drop_ring(base, arn, uid)
  redis.call('UNLINK', base .. 'kept:' .. uid, base .. 'kept:order:' .. uid, base .. 'kept:bodies:' .. uid)
  redis.call('HDEL', base .. 'kept', uid .. ' ' .. arn)
end

-- nil: the topic keeps no messages, is gone, or is another one of the same name.
local function open_ring(base, arn, uid)
  local topic = redis.call('HMGET', base .. 'topic:' .. arn, TOPIC.uid, TOPIC.kept)
  local seconds, bytes_max = string.match(topic[2] or '', '^(%d+) (%d+)$')
  if not topic[1] or (uid and topic[1] ~= uid) or not seconds then return nil end
  uid = topic[1]
  local name = uid .. ' ' .. arn
  return {
    base = base, name = name, uid = uid, notes = base .. 'kept:' .. uid, order = base .. 'kept:order:' .. uid,
    bodies = base .. 'kept:bodies:' .. uid, age_max = tonumber(seconds) * 1000, bytes_max = tonumber(bytes_max),
    filled = tonumber(redis.call('HGET', base .. 'kept', name)) or 0,
  }
end

local function write_filled(ring)
  if ring.filled > 0 then
    redis.call('HSET', ring.base .. 'kept', ring.name, string.format('%.0f', ring.filled))
  else
    redis.call('HDEL', ring.base .. 'kept', ring.name)
  end
end

-- Removes the oldest messages: those that are too old, those past the ring's bytes, and others until `to_free` bytes
-- are free. Returns the number of messages and of bytes.
local function trim_ring(ring, now, to_free)
  local oldest, removed, freed, full_until = (now - ring.age_max) * KEPT_STEPS, 0, 0, nil
  local next_chunk, chunk, gone = KEPT_FIRST_CHUNK, nil, nil
  repeat
    chunk, next_chunk = next_chunk, math.min(KEPT_CHUNK, next_chunk * 5)
    local page = redis.call('ZRANGE', ring.order, 0, chunk - 1, 'WITHSCORES')
    gone = {}
    for i = 1, #page, 2 do
      local score = tonumber(page[i + 1])
      if score >= oldest then
        if ring.filled <= ring.bytes_max and freed >= to_free then break end
        full_until = math.floor(score / KEPT_STEPS)
      end
      local bytes = kept_bytes(redis.call('HSTRLEN', ring.bodies, page[i]))
      ring.filled = ring.filled - bytes
      freed = freed + bytes
      gone[#gone + 1] = page[i]
    end
    if #gone > 0 then
      redis.call('HDEL', ring.bodies, unpack(gone))
      redis.call('ZREM', ring.order, unpack(gone))
    end
    removed = removed + #gone
  until #gone < chunk or removed >= KEPT_REMOVED_MAX
  if full_until then redis.call('HSET', ring.notes, KEPT.fullUntil, string.format('%.0f', full_until)) end
  write_filled(ring)
  return removed, freed
end
