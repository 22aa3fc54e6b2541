-- What a subscription consists of in its slice's shard: record, count, slot, lane, expiry. Needs lane-next.

-- Stores a new subscription in the lowest free slot; returns its record. `new.open` is the record's JSON up to where
-- slot and time of creation follow.
local function place_subscription(base, slice, id, new, rev, now)
  local slots = base .. 'slots:' .. slice
  local slot = redis.call('BITPOS', slots, 0)
  redis.call('SETBIT', slots, slot, 1)
  local record = new.open .. ',"o":' .. slot .. ',"t":' .. string.format('%.0f', now) .. '}'
  redis.call('HSET', base .. 'subs:' .. slice, id, record)
  redis.call('HINCRBY', base .. 'slice:' .. slice, 'n:' .. new.status, 1)
  redis.call('HSET', base .. 'slice:' .. slice, 'rev', rev)
  redis.call('HSET', base .. 'lane:' .. id, 's', slice, 'r', new.r, 'c', new.c, 'p', '', 'q', new.q, 'l', new.l)
  if new.m ~= '' then redis.call('HSET', base .. 'lane:' .. id, 'm', new.m) end
  if new.expires ~= '' then redis.call('ZADD', base .. 'expiries', new.expires, id) end
  return record
end

-- The lane of a removed subscription: gone at once where it is empty, else for `take` to drain.
local function close_lane(base, id, now)
  redis.call('ZREM', base .. 'expiries', id)
  if redis.call('EXISTS', base .. 'lane:' .. id) == 0 then return end
  redis.call('HSET', base .. 'lane:' .. id, 'g', '1')
  lane_next(base, id, now)
end

-- Removes a subscription; returns its packed record as a table, or false where there is none.
local function remove_subscription(base, slice, id, rev, now)
  local subs = base .. 'subs:' .. slice
  local text = redis.call('HGET', subs, id)
  if not text then return false end
  local readable, record = pcall(cjson.decode, text)
  if not readable then error('corrupt JSON in ' .. subs .. ' ' .. id) end
  redis.call('HDEL', subs, id)
  if not record.u then redis.call('HINCRBY', base .. 'slice:' .. slice, 'n:' .. (record.s or 'active'), -1) end
  redis.call('SETBIT', base .. 'slots:' .. slice, record.o, 0)
  redis.call('HSET', base .. 'slice:' .. slice, 'rev', rev)
  close_lane(base, id, now)
  return record
end

-- Removes a slice with all its subscriptions, and for a minute refuses whatever would still be placed in it.
local function drop_slice(base, slice, now)
  local ids = redis.call('HKEYS', base .. 'subs:' .. slice)
  redis.call('UNLINK', base .. 'subs:' .. slice, base .. 'slice:' .. slice, base .. 'slots:' .. slice)
  local empty = {}
  for _, id in ipairs(ids) do
    -- Most lanes are empty and need not be closed one by one, which would stop Redis for some 15 ms.
    if redis.call('EXISTS', base .. 'fresh:' .. id, base .. 'retry:' .. id, base .. 'lease:' .. id) > 0 then
      close_lane(base, id, now)
    else
      empty[#empty + 1] = base .. 'lane:' .. id
    end
  end
  if #empty > 0 then redis.call('UNLINK', unpack(empty)) end
  if #ids > 0 then redis.call('ZREM', base .. 'expiries', unpack(ids)) end
  redis.call('SET', base .. 'gone:' .. slice, '1', 'PX', 60000)
  return #ids
end
