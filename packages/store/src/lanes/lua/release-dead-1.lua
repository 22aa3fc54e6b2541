-- Makes deliveries that are declared dead and wait for their dead-letter queue due now.
-- @key base: of the shard
-- @arg shard: digits
-- @arg id: text, of the subscription
-- @arg deliveries_max: number
-- @arg skipped: number, deliveries that are not dead and were found before
-- Returns deliveries found, how many of them were moved, earliest due time or '', wakes published (lane-wake)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-state
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local key = base .. 'retry:' .. id
local found = redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf', 'LIMIT', skipped, deliveries_max)
local states = #found > 0 and redis.call('HMGET', base .. 'state:' .. id, unpack(found)) or {}
local moves = {}
for i, delivery in ipairs(found) do
  if is_dead(states[i]) then
    moves[#moves + 1] = text(now)
    moves[#moves + 1] = delivery
  end
end
if #moves > 0 then redis.call('ZADD', key, unpack(moves)) end
lane_next(base, id, now)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
return { #found, #moves / 2, due and text(due) or '', woke }
