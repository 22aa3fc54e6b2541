-- Makes a quota, or replaces its record if it is still as the caller read it. A record that does not grow is replaced
-- even when memory is full.
-- @key base: of quotas
-- @arg name: text, account and prefix
-- @arg expected: text, record as read; '' for none
-- @arg record: text
-- @arg quotas_max: number
-- Returns 'changed', 'full', 'created' or 'set'
-- @include when-full
if #record <= #expected then run_when_full(base) end
local records = base .. 'records'
local present = redis.call('HGET', records, name)
if (present or '') ~= expected then return 'changed' end
if not present and redis.call('HLEN', records) >= quotas_max then return 'full' end
redis.call('HSET', records, name, record)
return present and 'set' or 'created'
