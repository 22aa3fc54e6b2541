-- The ring of messages that a topic keeps, in the topic's home shard (keys.ts). A ring is bounded by the age and the
-- bytes that its topic allows, so a change of the topic acts at once. A ring with an archive also holds every message
-- that is in no block yet, whatever its bounds.
-- @include kept-jobs

-- Bytes that Redis uses for a message beside its body: field and id, and entries of hash and sorted set. Measured as
-- growth of used_memory (Redis 7.0, jemalloc 5.3) in rings of 1,000 to 10,000 messages of 100 bytes to 60 KB: 199 to
-- 221. kept-messages.test.ts measures it again.
local KEPT_ENTRY_BYTES = 215
-- Bytes that Redis writes before and after a body.
local KEPT_FRAME_BYTES = 6
-- Messages that one script removes from a ring. Past it: the next script continues.
local KEPT_REMOVED_MAX = 1000
local KEPT_CHUNK = 100

local kept_bytes_known = {}

-- The bytes that a message fills.
local function kept_bytes(body_bytes)
  local known = kept_bytes_known[body_bytes]
  if known then return known end
  known = allocated_bytes(body_bytes + KEPT_FRAME_BYTES) + KEPT_ENTRY_BYTES
  kept_bytes_known[body_bytes] = known
  return known
end

-- `kept:whole` has the ring until its last dropped job is deleted.
local function drop_ring(base, arn, uid)
  drop_kept_jobs(base, uid)
  redis.call('UNLINK', base .. 'kept:' .. uid, base .. 'kept:order:' .. uid, base .. 'kept:bodies:' .. uid)
  redis.call('HDEL', base .. 'kept', uid .. ' ' .. arn)
  if not delete_dropped_jobs(base, uid) then redis.call('SREM', base .. 'kept:whole', uid .. ' ' .. arn) end
end

-- nil: the topic keeps no messages, is gone, or is another one of the same name.
local function open_ring(base, arn, uid)
  local topic = redis.call('HMGET', base .. 'topic:' .. arn, TOPIC.uid, TOPIC.kept)
  local seconds, bytes_max, days, archive_max, drops =
    string.match(topic[2] or '', '^(%d+) (%d+) ?(%d*) ?(%d*) ?(d?)$')
  if not topic[1] or (uid and topic[1] ~= uid) or not seconds then return nil end
  uid = topic[1]
  local name, archive = uid .. ' ' .. arn, base .. 'archive:' .. uid
  return {
    archive = days ~= '' and archive, days = tonumber(days), archive_max = tonumber(archive_max), drops = drops == 'd',
    -- Only messages behind the first and up to the second score may be removed.
    behind = '-inf', removable = days == '' and '+inf' or redis.call('HGET', archive, ARCHIVE.cursor) or '0',
    base = base, name = name, uid = uid, notes = base .. 'kept:' .. uid, order = base .. 'kept:order:' .. uid,
    bodies = base .. 'kept:bodies:' .. uid, jobs = base .. 'kept:jobs:' .. uid,
    age_max = tonumber(seconds) * 1000, bytes_max = tonumber(bytes_max),
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

-- The oldest places, about as many as must go.
local function oldest_of(ring, too_old, over)
  local count = too_old
  if count == 0 then count = math.ceil(over * redis.call('ZCARD', ring.order) / math.max(1, ring.filled)) end
  count = math.max(1, math.min(KEPT_CHUNK, count))
  return redis.call('ZRANGEBYSCORE', ring.order, ring.behind, ring.removable, 'LIMIT', 0, count)
end

-- Returns the number of messages of the place, and of bytes.
local function measure_place(ring, place)
  if is_kept_job(place) then return measure_kept_job(kept_job_key(ring.base, ring.uid, place)) end
  return 1, kept_bytes(redis.call('HSTRLEN', ring.bodies, place))
end

-- Removes places of the list, until `over` bytes are free. Returns their number, that of messages, and when the last
-- of them was kept.
local function remove_oldest(ring, places, over)
  local count, messages, freed, ids, jobs = 0, 0, 0, {}, {}
  for _, place in ipairs(places) do
    if freed >= over then break end
    local number, bytes = measure_place(ring, place)
    count, messages, freed = count + 1, messages + number, freed + bytes
    local kind = is_kept_job(place) and jobs or ids
    kind[#kind + 1] = place
  end
  local first, last = 0, redis.call('ZSCORE', ring.order, places[count])
  if ring.behind ~= '-inf' then first = redis.call('ZRANK', ring.order, places[1]) end
  if #ids > 0 then redis.call('HDEL', ring.bodies, unpack(ids)) end
  remove_kept_jobs(ring.base, ring.uid, jobs)
  redis.call('ZREMRANGEBYRANK', ring.order, first, first + count - 1)
  ring.filled = ring.filled - freed
  return count, messages, math.floor(tonumber(last) / NUMBER.KEPT_STEPS)
end

-- Removes the oldest messages: those that are too old, and those past `bytes_max`. Returns the number of messages.
local function trim_ring(ring, now, bytes_max)
  local oldest, removed, full_until = (now - ring.age_max) * NUMBER.KEPT_STEPS, 0, nil
  local too_old = redis.call('ZCOUNT', ring.order, '-inf',
    oldest > (tonumber(ring.removable) or math.huge) and ring.removable or string.format('(%.0f', oldest))
  local function over() return ring.filled - bytes_max end
  while removed < KEPT_REMOVED_MAX and (too_old > 0 or over() > 0) do
    local places = oldest_of(ring, too_old, over())
    if #places == 0 then
      if redis.call('ZCARD', ring.order) == 0 then ring.filled = 0 end
      break
    end
    local count, messages, kept_at = remove_oldest(ring, places, too_old > 0 and math.huge or over())
    if too_old == 0 then full_until = kept_at end
    too_old, removed = math.max(0, too_old - count), removed + math.max(count, messages)
  end
  if full_until then redis.call('HSET', ring.notes, KEPT.fullUntil, string.format('%.0f', full_until)) end
  write_filled(ring)
  return removed
end
