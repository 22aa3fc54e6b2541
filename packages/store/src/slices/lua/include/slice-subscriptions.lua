-- The data of a subscription in its slice's shard: record, count, bit, lane, expiry.
-- @include lane-next
-- @include slice-counts
-- @include record-sum

-- Subscriptions of a slice that are remembered after they have left. Past it: the oldest is forgotten, and rows of its
-- deliveries no longer name it.
local FORMER_SUBSCRIPTIONS_MAX = 500
-- @limit Subscriptions of deleted topics that a shard remembers. Past it: those of the slices that were removed first
-- are forgotten, and rows of their deliveries no longer name them.
local DROPPED_SUBSCRIPTIONS_MAX = 2500

-- Stores a new subscription in the lowest free bit. Returns its record. `new.open` is the record's JSON without its
-- end. Bit, departures, time of creation and checksum are appended to it.
local function place_subscription(base, slice, id, new, rev, now)
  local bits = base .. 'bits:' .. slice
  local bit = redis.call('BITPOS', bits, 0)
  redis.call('SETBIT', bits, bit, 1)
  local created = string.format('%.0f', now)
  local departures = redis.call('HGET', base .. 'slice:' .. slice, SLICE.departures)
  local record = sum_record(new.open .. ',"' .. SUBSCRIPTION.bit .. '":' .. bit
    .. (departures and ',"' .. SUBSCRIPTION.departures .. '":' .. departures or '')
    .. ',"' .. SUBSCRIPTION.createdAt .. '":' .. created)
  redis.call('HSET', base .. 'subs:' .. slice, id, record)
  count_status(base, slice, new.status, 1)
  redis.call('HSET', base .. 'slice:' .. slice, SLICE.revision, rev)
  redis.call('HSET', base .. 'lane:' .. id, LANE.slice, slice, LANE.rate, new.rate,
    LANE.maxInFlight, new.max_in_flight, LANE.paused, new.status == 'paused' and '1' or '',
    LANE.hasDlq, new.has_dlq, LANE.floor, new.floor)
  if new.mode ~= '' then redis.call('HSET', base .. 'lane:' .. id, LANE.mode, new.mode) end
  if new.group_rates ~= '' then redis.call('HSET', base .. 'lane:' .. id, LANE.groupRates, new.group_rates) end
  if new.expires ~= '' then redis.call('ZADD', base .. 'expiries', new.expires, id) end
  return record
end

-- Numbers the departure of a subscription, and remembers who had its bit, if that is known.
local function note_departure(base, slice, id, record)
  local departed = base .. 'departed:' .. slice
  local number = redis.call('HINCRBY', base .. 'slice:' .. slice, SLICE.departures, 1)
  if not record[SUBSCRIPTION.bit] then return end
  local purged_at = redis.call('HGET', base .. 'lane:' .. id, LANE.purgedAt)
  redis.call('HSET', departed, number, cjson.encode({
    id = id, bit = record[SUBSCRIPTION.bit], departures = record[SUBSCRIPTION.departures] or 0,
    name = record[SUBSCRIPTION.name], purgedAt = tonumber(purged_at or 0),
  }))
  redis.call('HDEL', departed, number - FORMER_SUBSCRIPTIONS_MAX)
end

-- Closes the lane of a removed subscription. An empty lane is removed at once. Otherwise `take` discards it.
local function close_lane(base, id, now)
  redis.call('ZREM', base .. 'expiries', id)
  if redis.call('EXISTS', base .. 'lane:' .. id) == 0 then return end
  redis.call('HSET', base .. 'lane:' .. id, LANE.deleted, '1')
  lane_next(base, id, now)
end

-- The endpoint of a stored subscription. Returns `fallback` if there is none, or if its record cannot be read.
local function endpoint_of(base, slice, id, fallback)
  local readable, record = pcall(cjson.decode, redis.call('HGET', base .. 'subs:' .. slice, id) or '')
  return readable and type(record) == 'table' and record[SUBSCRIPTION.endpoint] or fallback
end

-- The stored record as a table. Empty: it cannot be read, or was changed after it was stored.
local function readable_record(text)
  local readable, record = pcall(cjson.decode, text)
  if not readable or type(record) ~= 'table' then return {} end
  return sum_record(string.sub(text, 1, -RECORD_SUM_LENGTH - 1)) == text and record or {}
end

-- Derives bits and counts from the records, after an unreadable one was removed. While another is unreadable, its bit
-- is unknown too, so all bits stay taken.
local function recount_slice(base, slice)
  local bits, numbers = {}, { active = 0, pending = 0, paused = 0 }
  for _, text in ipairs(redis.call('HVALS', base .. 'subs:' .. slice)) do
    local bit, status = readable_record(text)[SUBSCRIPTION.bit], counted_under(text)
    if status and numbers[status] then numbers[status] = numbers[status] + 1 end
    if not bit then bits = nil elseif bits then bits[#bits + 1] = bit end
  end
  for status, number in pairs(numbers) do
    redis.call('HSET', base .. 'slice:' .. slice, SLICE.count .. status, number)
  end
  if not bits then return end
  redis.call('DEL', base .. 'bits:' .. slice)
  for _, bit in ipairs(bits) do redis.call('SETBIT', base .. 'bits:' .. slice, bit, 1) end
end

-- Removes a subscription. Returns its stored record as a table, which is empty if it cannot be read, or false if there
-- is none.
local function remove_subscription(base, slice, id, rev, now)
  local subs = base .. 'subs:' .. slice
  local text = redis.call('HGET', subs, id)
  if not text then return false end
  local record = readable_record(text)
  redis.call('HDEL', subs, id)
  if record[SUBSCRIPTION.bit] then
    local counted = not record[SUBSCRIPTION.unsubscribed] and (record[SUBSCRIPTION.status] or 'active')
    if counted then count_status(base, slice, counted, -1) end
    redis.call('SETBIT', base .. 'bits:' .. slice, record[SUBSCRIPTION.bit], 0)
  else
    recount_slice(base, slice)
  end
  redis.call('HSET', base .. 'slice:' .. slice, SLICE.revision, rev)
  note_departure(base, slice, id, record)
  close_lane(base, id, now)
  return record
end

-- Keeps the names of a removed slice's subscriptions. The score of a slice in `slices` is the number of all that were
-- kept up to it, so the oldest slices can be found and forgotten.
local function remember_departed(base, slice, arn)
  local departed, slices = base .. 'departed:' .. slice, base .. 'departed:slices'
  local names = redis.call('HLEN', departed)
  if not arn or names == 0 then return end
  redis.call('HSET', departed, 'arn', arn)
  local total = (redis.call('ZRANGE', slices, -1, -1, 'WITHSCORES')[2] or 0) + names
  redis.call('ZADD', slices, total, slice)
  local oldest = string.format('%.0f', total - DROPPED_SUBSCRIPTIONS_MAX)
  for _, removed in ipairs(redis.call('ZRANGEBYSCORE', slices, '-inf', oldest)) do
    redis.call('UNLINK', base .. 'departed:' .. removed)
  end
  redis.call('ZREMRANGEBYSCORE', slices, '-inf', oldest)
end

-- Removes a slice with all its subscriptions. For a minute it refuses new subscriptions.
local function drop_slice(base, slice, now)
  local arn, ids = redis.call('HGET', base .. 'slice:' .. slice, SLICE.arn), {}
  local texts = redis.call('HGETALL', base .. 'subs:' .. slice)
  for i = 1, #texts, 2 do
    local readable, record = pcall(cjson.decode, texts[i + 1])
    if readable and type(record) == 'table' then note_departure(base, slice, texts[i], record) end
    ids[#ids + 1] = texts[i]
  end
  redis.call('UNLINK', base .. 'subs:' .. slice, base .. 'slice:' .. slice, base .. 'bits:' .. slice)
  remember_departed(base, slice, arn)
  local empty = {}
  for _, id in ipairs(ids) do
    -- Most lanes are empty and need not be closed. Closing all of them would block Redis for some 15 ms.
    if redis.call('EXISTS', base .. 'fresh:' .. id, base .. 'retry:' .. id, base .. 'lease:' .. id) > 0 then
      close_lane(base, id, now)
    else
      empty[#empty + 1] = base .. 'lane:' .. id
    end
  end
  if #empty > 0 then redis.call('UNLINK', unpack(empty)) end
  if #ids > 0 then redis.call('ZREM', base .. 'expiries', unpack(ids)) end
  redis.call('SET', base .. 'tombstone:' .. slice, '1', 'PX', 60000)
  return #ids
end
