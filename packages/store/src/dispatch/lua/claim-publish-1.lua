-- Looks up what an idempotency key of a topic stands for, and claims it for a publish where it is free. The key is that
-- of the topic there is now: one that was deleted and made again has forgotten it.
-- KEYS[1] base of the topic's home shard
-- ARGV    ARN, idempotency key, value to claim it for or '' to look only, ms that the key is kept
-- Returns false where there is no such topic; else its uid, and what the key stands for ('' nothing)
-- @include when-full
local base, arn, value = KEYS[1], ARGV[1], ARGV[3]
run_when_full(base)
local uid = redis.call('HGET', base .. 'topic:' .. arn, 'uid')
if not uid then return false end
local name = base .. 'idem:' .. uid .. ':' .. ARGV[2]
local held = redis.call('GET', name)
if not held and value ~= '' then
  redis.call('SET', name, value, 'PX', ARGV[4])
  held = value
end
return { uid, held or '' }
