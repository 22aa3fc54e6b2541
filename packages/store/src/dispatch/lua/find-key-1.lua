-- Looks up the value of a topic's idempotency key, and claims the key for a publish if it is free. The key belongs to
-- the present topic. A topic that was deleted and created again knows no earlier keys.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg key: text, idempotency key
-- @arg value: text, value to store if the key is free; '' to look it up only
-- @arg kept_ms: digits
-- Returns false if there is no such topic; else the topic's uid, and the value of the key ('' if it has none)
-- @include when-full
run_when_full(base)
local uid = redis.call('HGET', base .. 'topic:' .. arn, 'uid')
if not uid then return false end
local name = base .. 'idem:' .. uid .. ':' .. key
local claim = redis.call('GET', name)
if not claim and value ~= '' then
  redis.call('SET', name, value, 'PX', kept_ms)
  claim = value
end
return { uid, claim or '' }
