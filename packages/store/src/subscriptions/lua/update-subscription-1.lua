-- Replaces a subscription's record if it is still as the caller read it. Also updates its lane's settings, counts and
-- expiry. If the topic is in this shard, also updates the topic's revision and the token's entry. Settings that do not
-- grow are replaced even when memory is full.
-- @key base: of the slice's shard
-- @arg slice_id: text
-- @arg shard: digits
-- @arg id: text
-- @arg expected: text, record as read
-- @arg record: text
-- @arg was_counted: text, status that it was counted under, or ''
-- @arg counted: text, status that it is counted under, or ''
-- @arg rate: text, own, or '', or of its kind behind '='
-- @arg max_in_flight: digits
-- @arg paused: text, '1', why Fantail itself paused it, or ''
-- @arg has_dlq: text, '1' or ''
-- @arg expires: text, when its token expires, ms, or ''
-- @arg mode: text, retry mode and circuit breaker, or ''
-- @arg group_rates: text, rates of message groups (group-rate.lua), or ''
-- @arg revision: text
-- @arg arn: text, if the topic is in this shard, else ''
-- @arg uid: text, the topic's
-- @arg raw_id: text, 16 bytes
-- @arg old_token: text, SHA-1 or ''
-- @arg new_token: text, SHA-1 or ''
-- @arg runs_when_full: flag, what the caller sets does not grow
-- Returns: {'missing'} | {'changed', record} | {'set'}
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-blocked
-- @include lane-wake
-- @include slice-counts
-- @include subscription-change
-- State from another mode is not valid under this one.
local function set_mode()
  local key = base .. 'lane:' .. id
  if (redis.call('HGET', key, LANE.mode) or '') == mode then return end
  redis.call('HDEL', key, LANE.mode, unpack(PACE_STATE))
  if mode ~= '' then redis.call('HSET', key, LANE.mode, mode) end
end

-- With other rates, every group may have a send time now. Shelves that are left are emptied without rates too.
local function set_group_rates()
  local key, shelved = base .. 'lane:' .. id, base .. 'shelved:' .. id
  local rates = group_rates
  if rates == '' and redis.call('EXISTS', shelved) == 1 then rates = NO_GROUPS end
  if (redis.call('HGET', key, LANE.groupRates) or '') == rates then return end
  if rates == '' then redis.call('HDEL', key, LANE.groupRates) else redis.call('HSET', key, LANE.groupRates, rates) end
  for _, group in ipairs(redis.call('ZRANGE', shelved, 0, -1)) do
    redis.call('ZADD', shelved, string.format('%.0f', now_ms(base)), group)
  end
end

-- A resume gives the endpoint a new start, because `disableAfterDays` counts from its first failure.
local function forget_failures()
  redis.call('HDEL', base .. 'lane:' .. id, LANE.failedInARow, LANE.failingSince)
  redis.call('ZREM', base .. 'failing', id)
end

local subs, slice = base .. 'subs:' .. slice_id, base .. 'slice:' .. slice_id
if runs_when_full then run_when_full(base) end
local found = redis.call('HGET', subs, id)
if not found then return {'missing'} end
if found ~= expected then return {'changed', found} end
local now, before = now_ms(base), first_due(base)
redis.call('HSET', subs, id, record)
if was_counted ~= '' then count_status(base, slice_id, was_counted, -1) end
if counted ~= '' then count_status(base, slice_id, counted, 1) end
redis.call('HSET', slice, SLICE.revision, revision)
local was_paused = redis.call('HGET', base .. 'lane:' .. id, LANE.paused) or ''
redis.call('HSET', base .. 'lane:' .. id, LANE.rate, rate, LANE.maxInFlight, max_in_flight,
  LANE.paused, paused, LANE.hasDlq, has_dlq)
set_mode()
set_group_rates()
if was_paused == GONE and paused == '' then probe_gone(base, id, now) end
if was_paused ~= '' and paused == '' then forget_failures() end
finish_change(base, shard, id, now, before, {
  expires = expires, arn = arn, uid = uid, raw_id = raw_id, old_token = old_token, new_token = new_token,
  revision = revision,
})
return {'set'}
