-- Replaces a subscription's record where it still is the one that the caller has read, with its lane's settings,
-- counts and expiry; where the topic is in this shard too, also its revision and the token's entry.
-- Settings that do not grow are replaced even when memory is full.
-- KEYS: base of the slice's shard
-- ARGV: slice id, shard number, id, record as read, new record, status counted before ('' for none), status counted
--       now, own throttle, max in flight, '1' when paused, '1' with a DLQ, token's expiry or '', revision,
--       ARN where the topic is in this shard else '', uid, id (16 bytes), SHA-1 of the old token or '', of the new,
--       mode or '', '1' where the caller's settings do not grow
-- Returns: {'missing'} | {'changed', record} | {'set'}
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include topic-slices
-- @include topic-tokens
local PACE = { 'm', 'mq', 'mn', 'mf', 'mu', 'mc', 'ml', 'mt', 'mr', 'mb', 'mi', 'mz' }
local base, id = KEYS[1], ARGV[3]

-- What was learnt under another mode says nothing under this one.
local function set_mode(lane_base, lane_id, mode)
  local key = lane_base .. 'lane:' .. lane_id
  if (redis.call('HGET', key, 'm') or '') == mode then return end
  redis.call('HDEL', key, unpack(PACE))
  if mode ~= '' then redis.call('HSET', key, 'm', mode) end
end

local subs, slice = base .. 'subs:' .. ARGV[1], base .. 'slice:' .. ARGV[1]
if ARGV[20] == '1' then run_when_full(base) end
local record = redis.call('HGET', subs, id)
if not record then return {'missing'} end
if record ~= ARGV[4] then return {'changed', record} end
local now, before = now_ms(base), first_due(base)
redis.call('HSET', subs, id, ARGV[5])
if ARGV[6] ~= '' then redis.call('HINCRBY', slice, 'n:' .. ARGV[6], -1) end
if ARGV[7] ~= '' then redis.call('HINCRBY', slice, 'n:' .. ARGV[7], 1) end
redis.call('HSET', slice, 'rev', ARGV[13])
redis.call('HSET', base .. 'lane:' .. id, 'r', ARGV[8], 'c', ARGV[9], 'p', ARGV[10], 'q', ARGV[11])
set_mode(base, id, ARGV[19])
if ARGV[12] == '' then
  redis.call('ZREM', base .. 'expiries', id)
else
  redis.call('ZADD', base .. 'expiries', ARGV[12], id)
end
lane_next(base, id, now)
wake_if_earlier(base, ARGV[2], before, now, first_turn)
if ARGV[14] ~= '' then
  set_token(base, ARGV[15], ARGV[16], ARGV[17], ARGV[18])
  touch_topic(base .. 'topic:' .. ARGV[14], ARGV[15], ARGV[14], ARGV[13])
end
return {'set'}
