-- Members of a sorted set by time that are at least `age_ms` old.
-- @key base: of the shard
-- @arg set: text, name of the sorted set
-- @arg age_ms: number
-- @arg members_max: digits
-- Returns: {now, member, member, …}
-- @include now
local now = now_ms(base)
local till = string.format('%.0f', now - age_ms)
local found = {string.format('%.0f', now)}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', base .. set, '-inf', till, 'LIMIT', 0, members_max)) do
  found[#found + 1] = member
end
return found
