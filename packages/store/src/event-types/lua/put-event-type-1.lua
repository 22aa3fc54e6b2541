-- Creates an event type in a topic's catalogue, or replaces its record if that is still as the caller read it. A record
-- that does not grow is replaced even when memory is full.
-- @key base: of the topic's home shard
-- @arg arn: text, of the topic
-- @arg uid: text
-- @arg name: text
-- @arg expected: text, record as read; '' for none
-- @arg record: text, JSON
-- @arg revision: text, of the catalogue
-- @arg types_max: number
-- @arg bytes_max: number, of all records of the topic
-- Returns: 'put' | 'changed' | 'gone', the topic | 'many' or 'large', the catalogue would be
-- @include when-full
local key, types = base .. 'topic:' .. arn, base .. 'types:' .. uid
if #record <= #expected then run_when_full(base) end
if redis.call('HGET', key, TOPIC.uid) ~= uid then return 'gone' end
if (redis.call('HGET', types, name) or '') ~= expected then return 'changed' end
if expected == '' and redis.call('HLEN', types) >= types_max then return 'many' end
if #record > #expected then
  local bytes = #record - #expected
  for _, other in ipairs(redis.call('HKEYS', types)) do bytes = bytes + redis.call('HSTRLEN', types, other) end
  if bytes > bytes_max then return 'large' end
end
redis.call('HSET', types, name, record)
redis.call('HSET', key, TOPIC.types, revision)
redis.call('PUBLISH', 'ft:wake:changes', arn)
return 'put'
