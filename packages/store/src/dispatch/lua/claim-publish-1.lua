-- Looks up what an idempotency key of a topic stands for, and claims it for a publish where it is free. The key is that
-- of the topic there is now: one that was deleted and made again has forgotten it.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg key: text, idempotency key
-- @arg value: text, to claim it for; '' to look only
-- @arg kept_ms: digits
-- Returns false where there is no such topic; else its uid, and what the key stands for ('' nothing)
-- @include when-full
run_when_full(base)
local uid = redis.call('HGET', base .. 'topic:' .. arn, 'uid')
if not uid then return false end
local name = base .. 'idem:' .. uid .. ':' .. key
local held = redis.call('GET', name)
if not held and value ~= '' then
  redis.call('SET', name, value, 'PX', kept_ms)
  held = value
end
return { uid, held or '' }
