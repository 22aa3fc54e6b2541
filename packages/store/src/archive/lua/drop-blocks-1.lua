-- Takes blocks out of the index of an archive that are too old or exceed its bytes. If the archive has ended, all of
-- them leave it. The caller deletes their objects, and then their names (`archive:removed`).
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg blocks_max: number, that one call takes out and returns
-- Returns entries of blocks without a place in the index, each with its score.
-- @include now
-- @include when-full
-- @include kept
-- @include archive
local ARCHIVE_DAY_MS = 86400000
run_when_full(base)
local ring = open_ring(base, arn, uid)
local index, removed = base .. 'archive:blocks:' .. uid, base .. 'archive:removed:' .. uid

local function drop(entry, score)
  local messages, bytes = string.match(entry, '^%d+ (%d+) (%d+)')
  redis.call('ZREM', index, entry)
  redis.call('ZADD', removed, score, entry)
  redis.call('HINCRBY', ring.archive, ARCHIVE.messages, -(tonumber(messages) or 0))
  return redis.call('HINCRBY', ring.archive, ARCHIVE.bytes, -(tonumber(bytes) or 0))
end

local function drop_old()
  local oldest = string.format('(%.0f', (now_ms(base) - ring.days * ARCHIVE_DAY_MS) * NUMBER.KEPT_STEPS)
  local found = redis.call('ZRANGEBYSCORE', index, '-inf', oldest, 'WITHSCORES', 'LIMIT', 0, blocks_max)
  for i = 1, #found, 2 do drop(found[i], found[i + 1]) end
end

local function drop_past_bytes()
  local bytes = tonumber(redis.call('HGET', ring.archive, ARCHIVE.bytes)) or 0
  for _ = 1, blocks_max do
    if bytes <= ring.archive_max then return end
    local entry, score = unpack(redis.call('ZRANGE', index, 0, 0, 'WITHSCORES'))
    if not entry then return end
    bytes = drop(entry, score)
  end
end

if ring and ring.archive then
  drop_old()
  if ring.archive_max > 0 then drop_past_bytes() end
else
  end_archive(base, uid)
end
local left = redis.call('ZRANGE', removed, 0, blocks_max - 1, 'WITHSCORES')
if #left == 0 and not (ring and ring.archive) then redis.call('SREM', base .. 'archives', uid .. ' ' .. arn) end
return left
