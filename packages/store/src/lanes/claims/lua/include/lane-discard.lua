-- Removes deliveries from a lane permanently: their entries, states and (with write_drops) references to bodies.
-- Returns true if other deliveries of their groups have become heads.
-- @include lane-body
-- @include lane-group
-- @include lane-count
-- @include lane-redriven
local function discard(base, id, set, ids, fifo, now)
  local followed = false
  if #ids == 0 then return false end
  redis.call('ZREM', base .. set .. ':' .. id, unpack(ids))
  redis.call('HDEL', base .. 'state:' .. id, unpack(ids))
  for _, delivery in ipairs(ids) do
    drop_body(delivery)
    count_end(base, id, delivery, ENDS.discarded)
    followed = fifo and leave_group(base, id, delivery, now) or followed
  end
  return followed
end

-- In a FIFO lane: discards waiting heads with the deliveries behind them, and deliveries behind heads in flight.
local function discard_groups(base, id, max, now)
  local removed = 0
  for _, set in ipairs({ 'fresh', 'retry', 'lease' }) do
    local own, heads = set == 'lease' and 0 or 1, {}
    if removed < max then heads = redis.call('ZRANGE', base .. set .. ':' .. id, 0, max - removed - 1) end
    for _, head in ipairs(heads) do
      if removed >= max then return removed end
      removed = removed + own + #pop_behind(base, id, head, max - removed - own, ENDS.discarded)
      if own == 1 then discard(base, id, set, { head }, true, now) end
    end
  end
  return removed
end

-- Discards up to max waiting deliveries, counted under the cause. Returns how many.
local function discard_waiting(base, id, max, cause, fifo, now)
  local removed = fifo and discard_groups(base, id, max, now) or 0
  for _, set in ipairs(fifo and {} or { 'fresh', 'retry' }) do
    local ids = {}
    if removed < max then ids = redis.call('ZRANGE', base .. set .. ':' .. id, 0, max - removed - 1) end
    discard(base, id, set, ids)
    removed = removed + #ids
  end
  count(cause, removed)
  return removed
end
