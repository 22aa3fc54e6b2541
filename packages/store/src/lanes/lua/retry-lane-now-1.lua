-- Makes waiting deliveries due now, or one after the other with a gap, never later than before. A head in a FIFO lane
-- takes the deliveries behind it along, and uses a gap for each of them. An open circuit is probed now, unless a probe
-- is in flight.
-- @key base: of the shard
-- @arg shard: digits
-- @arg id: text, of the subscription
-- @arg gap: number, ms; 0: none
-- @arg deliveries_max: number
-- @arg reached: number?, where the last step ended
-- Returns deliveries found, how many were moved, where this step ended, earliest due time or '', whether a wake was
--         published (1)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-group
-- @include lane-state
-- @include lane-blocked
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local first = reached == nil
local at = reached or now
if gap == 0 then at = now end
local key = base .. 'retry:' .. id
-- Deliveries that were moved already are due at `at` or before. Others that are due by then need no move.
local till = '(' .. text(SHELVED_FROM)
local found = redis.call('ZRANGEBYSCORE', key, '(' .. text(at), till, 'WITHSCORES', 'LIMIT', 0, deliveries_max)
local moved, lane = 0, lane_of(base, id, now)

-- The retry has a new time, so its stored delay is no longer right.
local function note_retry_now(delivery)
  local state = redis.call('HGET', base .. 'state:' .. id, delivery)
  local head, rest = string.match(string.gsub(state or '', WHY, '%1'), '^(A%d+,%d*,)(.*)$')
  if head then redis.call('HSET', base .. 'state:' .. id, delivery, head .. 'n~' .. rest) end
end

local function probe_now()
  local probe_at = lane and lane.pace and lane.pace.probe_at
  if not probe_at or probe_at <= now or blocked_by(base, id) or redis.call('ZCARD', base .. 'lease:' .. id) > 0 then return end
  lane.pace.probe_at = now
  redis.call('HSET', base .. 'lane:' .. id, LANE.openUntil, text(now))
end

if first then probe_now() end
if first and #found > 0 then at = at - gap end
for i = 1, #found, 2 do
  at = at + gap
  if tonumber(found[i + 1]) > at then
    local followers = lane and lane.fifo and number_behind(base, id, found[i]) or 0
    redis.call('ZADD', key, at, found[i])
    note_retry_now(found[i])
    moved = moved + 1 + followers
    at = at + gap * followers
  end
end
lane_next(base, id, now, lane)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
return { #found / 2, moved, text(at), due and text(due) or '', woke }
