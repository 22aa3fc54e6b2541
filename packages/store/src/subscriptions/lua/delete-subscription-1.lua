-- Deletes a subscription whose slice is in its topic's home shard. For a slice elsewhere it frees the endpoint and
-- leaves a note. The caller then removes the subscription (remove-subscription) and calls finish-delete. Once the note
-- is there the deletion cannot be undone, because a new subscription may get the endpoint.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg shard: digits
-- @arg uid: text, the topic's
-- @arg slice_number: number
-- @arg note: text
-- @arg id: text
-- @arg raw_id: text, 16 bytes
-- @arg endpoint: text, as the caller read it, or '' if it could not
-- @arg endpoint_hash: text, SHA-1 of protocol and endpoint
-- @arg token_hash: text, SHA-1 of the token, or ''
-- @arg revision: text
-- @arg shards: number, how many there are
-- Returns: 'absent' | 'moved' (it has another endpoint; nothing was changed) | 'deleted' | 'begun'
-- @include now
-- @include when-full
-- @include lane-next
-- @include lane-wake
-- @include slice-subscriptions
-- @include topic-slices
-- @include id-bytes
local key, endpoints = base .. 'topic:' .. arn, base .. 'endpoints:' .. uid
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local holds = redis.call('HGET', endpoints, endpoint_hash) == raw_id
local here = slice_number % shards == 0
local slice = uid .. '.' .. slice_number
if here and endpoint ~= '' and endpoint_of(base, slice, id, endpoint) ~= endpoint then return 'moved' end
local removed = here and remove_subscription(base, slice, id, revision, now)
if here and not removed then return 'absent' end
if not here then
  if not holds then return redis.call('ZSCORE', base .. 'unfinished', note) and 'begun' or 'absent' end
  redis.call('ZADD', base .. 'unfinished', string.format('%.0f', now), note)
end
if holds then redis.call('HDEL', endpoints, endpoint_hash) end
if token_hash ~= '' then redis.call('HDEL', base .. 'tokens:' .. uid, token_hash) end
-- The token may have changed since the caller read it.
local token = removed and removed[SUBSCRIPTION.token]
if token then redis.call('HDEL', base .. 'tokens:' .. uid, hex_bytes(redis.sha1hex(token))) end
if here then release_place(key, uid, slice_number, true) end
touch_topic(key, uid, arn, revision)
wake_if_earlier(base, shard, before, now, first_unproven)
return here and 'deleted' or 'begun'
