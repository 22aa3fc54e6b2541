-- Where deliveries are. Changes nothing.
-- KEYS[1] the shard's prefix
-- ARGV    for each: subscription, delivery
-- Returns for each: w waiting, f in flight or a absent; due time of a waiting one or ''; retry state or ''
local base, reply = KEYS[1], {}
for i = 1, #ARGV, 2 do
  local id, delivery = ARGV[i], ARGV[i + 1]
  local due = redis.call('ZSCORE', base .. 'fresh:' .. id, delivery) or redis.call('ZSCORE', base .. 'retry:' .. id, delivery)
  local flying = not due and redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
  reply[#reply + 1] = due and 'w' or flying and 'f' or 'a'
  reply[#reply + 1] = due or ''
  reply[#reply + 1] = redis.call('HGET', base .. 'state:' .. id, delivery) or ''
end
return reply
