-- The recorded attempts of one subscription, its share of all records.

local function drop_share(base, subscription)
  local bytes = tonumber(redis.call('HGET', base .. 'bytes', subscription) or 0)
  redis.call('UNLINK', base .. 'of:' .. subscription)
  redis.call('HDEL', base .. 'bytes', subscription)
  redis.call('ZREM', base .. 'recent', subscription)
  if bytes > 0 then redis.call('DECRBY', base .. 'total', bytes) end
end
