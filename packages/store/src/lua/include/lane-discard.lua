-- Takes deliveries out of a lane for good: their entries, states and (with write_drops) references.
local function discard(base, id, set, ids)
  if #ids == 0 then return end
  redis.call('ZREM', base .. set .. ':' .. id, unpack(ids))
  redis.call('HDEL', base .. 'state:' .. id, unpack(ids))
  for _, delivery in ipairs(ids) do
    drop_body(delivery)
  end
end

-- Up to max of what waits, counted under the cause. Returns how many.
local function discard_waiting(base, id, max, cause)
  local removed = 0
  for _, set in ipairs({ 'fresh', 'retry' }) do
    local ids = {}
    if removed < max then ids = redis.call('ZRANGE', base .. set .. ':' .. id, 0, max - removed - 1) end
    discard(base, id, set, ids)
    removed = removed + #ids
  end
  count(cause, removed)
  return removed
end
