-- The archive of a topic: an index of blocks, which lie outside of Redis. Its notes begin with it and end with it
-- (keys.ts).

local function has_archive(kept) return string.find(kept, '^%d+ %d+ %d') ~= nil end

-- Messages that are kept from now on go into blocks.
local function begin_archive(base, arn, uid, now)
  local last = tonumber(redis.call('HGET', base .. 'kept:' .. uid, KEPT.last)) or 0
  local cursor = math.max(last, now * NUMBER.KEPT_STEPS - 1)
  redis.call('HSET', base .. 'archive:' .. uid, ARCHIVE.since, string.format('%.0f', now), ARCHIVE.cursor,
    string.format('%.0f', cursor))
  redis.call('SADD', base .. 'archives', uid .. ' ' .. arn)
end

-- All blocks leave the index at once. A sweep then deletes their objects, and that of a block that was being written.
local function end_archive(base, uid)
  local blocks, removed = base .. 'archive:blocks:' .. uid, base .. 'archive:removed:' .. uid
  local cursor, open = unpack(redis.call('HMGET', base .. 'archive:' .. uid, ARCHIVE.cursor, ARCHIVE.open))
  if cursor and open then redis.call('ZADD', blocks, open, cursor .. ' 0 0 0 0') end
  redis.call('UNLINK', base .. 'archive:' .. uid)
  if redis.call('EXISTS', blocks) == 0 then return end
  if redis.call('EXISTS', removed) == 0 then return redis.call('RENAME', blocks, removed) end
  redis.call('ZUNIONSTORE', removed, 2, removed, blocks)
  redis.call('UNLINK', blocks)
end

local function change_archive(base, arn, uid, before, after, now)
  if has_archive(before) == has_archive(after) then return end
  if has_archive(after) then begin_archive(base, arn, uid, now) else end_archive(base, uid) end
end
