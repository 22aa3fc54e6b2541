-- Adds what a process has counted to the statistics of topics, subscriptions and accounts. A flush that was written
-- before is not added again, so a process may repeat it after a lost reply.
-- @key base: of the statistics
-- @arg writer: text, id of the process
-- @arg flush: number, of the writer's flushes; each is higher than the one before
-- @arg now: number, ms
-- @list counted
-- @item kind: text, t topic, s subscription, w subscription by week, or a account
-- @item name: text
-- @item seats: number, that this kind has
-- @item minute: number, since 1970
-- @item added: text, JSON array: published, delivered, failed, dead-lettered, pairs of bucket and count; or of a week
-- Returns the positions, from 1, of those for which no seat was free
local SEAT_SILENT_MS, WRITER_KEPT_SECONDS = 24 * 3600 * 1000, 86400
local MINUTES_KEPT_HOURS, HOURS_KEPT_DAYS = 25, 31
local WEEK_KEPT_SECONDS = 8 * 86400

local function minutes_key(kind, name, hour)
  return base .. 'minutes:' .. kind .. ':' .. name .. ':' .. hour
end

local function hours_key(kind, name, day)
  return base .. 'hours:' .. kind .. ':' .. name .. ':' .. day
end

local function week_key(name)
  return base .. 'week:' .. name
end

-- Removes everything that is stored about it. The silent time is longer than minutes are kept.
local function forget(kind, name)
  local today, keys = math.floor(now / 86400000), {}
  for day = today - HOURS_KEPT_DAYS - 1, today do keys[#keys + 1] = hours_key(kind, name, day) end
  local hour_now = math.floor(now / 3600000)
  for hour = hour_now - MINUTES_KEPT_HOURS - 1, hour_now do keys[#keys + 1] = minutes_key(kind, name, hour) end
  if kind == 'w' then keys = { week_key(name) } end
  redis.call('UNLINK', unpack(keys))
end

-- Takes the seat of the one that has been silent for the longest time, if that was a day or longer.
local function has_seat(kind, name, seats)
  local key = base .. 'seats:' .. kind
  if not redis.call('ZSCORE', key, name) and redis.call('ZCARD', key) >= seats then
    local silent = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if tonumber(silent[2]) > now - SEAT_SILENT_MS then return false end
    redis.call('ZREM', key, silent[1])
    forget(kind, silent[1])
  end
  redis.call('ZADD', key, now, name)
  return true
end

local function add(key, field, added, kept_seconds)
  local stored = redis.call('HGET', key, field)
  local sums = stored and cmsgpack.unpack(stored) or { 0, 0, 0, 0 }
  for i = 1, 4 do sums[i] = sums[i] + added[i] end
  local places = {}
  for i = 5, #sums, 2 do places[sums[i]] = i + 1 end
  for i = 5, #added, 2 do
    local bucket, count = added[i], added[i + 1]
    local place = places[bucket]
    if place then
      sums[place] = sums[place] + count
    else
      sums[#sums + 1] = bucket
      sums[#sums + 1] = count
    end
  end
  redis.call('HSET', key, field, cmsgpack.pack(sums))
  redis.call('EXPIRE', key, kept_seconds)
end

-- Hours are numbered in a circle, so that a number takes three bytes. Older hours are dropped, so that a week has a
-- bounded size.
local function add_week(name, hour, added)
  local stored = redis.call('GET', week_key(name))
  local sums, kept = stored and cmsgpack.unpack(stored) or {}, {}
  local current, own = math.floor(now / 3600000), { hour % NUMBER.WEEK_CIRCLE, 0, 0, 0, 0 }
  for i = 1, #sums, NUMBER.WEEK_STEP do
    for k = 0, NUMBER.WEEK_STEP - 1 do
      if sums[i] == own[1] then
        own[k + 1] = sums[i + k]
      elseif (current - sums[i]) % NUMBER.WEEK_CIRCLE < NUMBER.WEEK_HOURS then
        kept[#kept + 1] = sums[i + k]
      end
    end
  end
  for k = 1, NUMBER.WEEK_STEP - 1 do own[k + 1] = own[k + 1] + added[k] end
  for k = 1, NUMBER.WEEK_STEP do kept[#kept + 1] = own[k] end
  redis.call('SET', week_key(name), cmsgpack.pack(kept), 'EX', WEEK_KEPT_SECONDS)
end

local noted = base .. 'writer:' .. writer
if tonumber(redis.call('GET', noted) or 0) >= flush then return {} end
redis.call('SET', noted, flush, 'EX', WRITER_KEPT_SECONDS)
local refused, position = {}, 0
for kind, name, seats, minute, added in counted() do
  position = position + 1
  if has_seat(kind, name, seats) then
    local counts, hour = cjson.decode(added), math.floor(minute / 60)
    if kind == 'w' then
      add_week(name, hour, counts)
    else
      add(minutes_key(kind, name, hour), minute % 60, counts, MINUTES_KEPT_HOURS * 3600)
      add(hours_key(kind, name, math.floor(hour / 24)), hour % 24, counts, HOURS_KEPT_DAYS * 86400)
    end
  else
    refused[#refused + 1] = position
  end
end
return refused
