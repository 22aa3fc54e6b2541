-- Adds recorded attempts. Then the oldest shares go, until all records are within their bound of bytes.
-- @key base: of the recorded attempts
-- @arg now: number, ms
-- @arg bytes_max: number, of all records
-- @arg kept: number, records of a subscription
-- @list shares
-- @item subscription: text
-- @item records: text, lines, oldest first
-- Returns how many shares were removed
-- @include attempt-share
-- Approximate bytes of a share (its key, list entry and places in the other keys), and of a record without its text.
local SHARE_BYTES, RECORD_BYTES = 300, 32
-- @limit Time after its last record for which the records of a subscription are kept. After it: they are removed.
local RECORDS_KEPT_SECONDS = 604800
-- Shares that one write removes. Past it: the next write removes more.
local DROPPED_MAX = 200

local function bytes_of(records)
  local sum = 0
  for _, record in ipairs(records) do sum = sum + #record + RECORD_BYTES end
  return sum
end

local function add_share(subscription, lines)
  local list, added = base .. 'of:' .. subscription, {}
  for line in string.gmatch(lines, '[^\n]+') do added[#added + 1] = line end
  local change = bytes_of(added)
  if redis.call('LPUSH', list, unpack(added)) > kept then
    change = change - bytes_of(redis.call('LRANGE', list, kept, -1))
    redis.call('LTRIM', list, 0, kept - 1)
  end
  if redis.call('ZADD', base .. 'recent', now, subscription) == 1 then change = change + SHARE_BYTES end
  redis.call('HINCRBY', base .. 'bytes', subscription, change)
  redis.call('EXPIRE', list, RECORDS_KEPT_SECONDS + 86400)
  return change
end

local dropped = 0
local function drop(subscriptions)
  for _, subscription in ipairs(subscriptions) do
    drop_share(base, subscription)
    dropped = dropped + 1
  end
  return #subscriptions > 0
end

drop(redis.call('ZRANGEBYSCORE', base .. 'recent', '-inf', now - RECORDS_KEPT_SECONDS * 1000, 'LIMIT', 0, DROPPED_MAX))
local change = 0
for subscription, records in shares() do change = change + add_share(subscription, records) end
local total = redis.call('INCRBY', base .. 'total', change)
while total > bytes_max and dropped < DROPPED_MAX and drop(redis.call('ZRANGE', base .. 'recent', 0, 0)) do
  total = tonumber(redis.call('GET', base .. 'total'))
end
for _, name in ipairs({ 'recent', 'bytes', 'total' }) do
  redis.call('EXPIRE', base .. name, RECORDS_KEPT_SECONDS + 86400)
end
return dropped
