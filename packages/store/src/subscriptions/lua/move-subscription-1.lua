-- Gives a subscription another endpoint, if its record is still as the caller read it. Waiting deliveries stay in its
-- lane. The lane forgets everything about the old endpoint: last failure and success, circuit, quota, rate, and whether
-- it is proven.
-- @key base: of the slice's shard
-- @arg slice_id: text
-- @arg shard: digits
-- @arg id: text
-- @arg expected: text, record as read
-- @arg record: text
-- @arg expires: text, when its token expires, ms, or ''
-- @arg revision: text
-- @arg arn: text, if the topic is in this shard, else ''
-- @arg uid: text, the topic's
-- @arg raw_id: text, 16 bytes
-- @arg old_hash: text, SHA-1 of the old endpoint
-- @arg new_hash: text, SHA-1 of the new endpoint
-- @arg old_token: text, SHA-1 or ''
-- @arg new_token: text, SHA-1 or ''
-- Returns: {'missing'} | {'changed', record} | {'taken', id (16 bytes)} | {'set'}
-- @include now
-- @include lane-wake
-- @include subscription-change
local LEARNT = { LANE.lastError, LANE.lastStatusCode, LANE.proven, LANE.failedAt, LANE.succeededAt, LANE.seen,
  LANE.failedInARow, LANE.failingSince }
local subs, endpoints = base .. 'subs:' .. slice_id, base .. 'endpoints:' .. uid
local found = redis.call('HGET', subs, id)
if not found then return {'missing'} end
if found ~= expected then return {'changed', found} end
if arn ~= '' then
  local holder = redis.call('HGET', endpoints, new_hash)
  if holder and holder ~= raw_id then return {'taken', holder} end
  redis.call('HDEL', endpoints, old_hash)
  redis.call('HSET', endpoints, new_hash, raw_id)
end
local now, before = now_ms(base), first_due(base)
redis.call('HSET', subs, id, record)
redis.call('HSET', base .. 'slice:' .. slice_id, SLICE.revision, revision)
redis.call('HDEL', base .. 'lane:' .. id, unpack(LEARNT))
forget_pace(base .. 'lane:' .. id)
redis.call('HSET', base .. 'lane:' .. id, LANE.movedAt, string.format('%.0f', now))
finish_change(base, shard, id, now, before, {
  expires = expires, arn = arn, uid = uid, raw_id = raw_id, old_token = old_token, new_token = new_token,
  revision = revision,
})
redis.call('PUBLISH', 'ft:wake:moved', id)
return {'set'}
