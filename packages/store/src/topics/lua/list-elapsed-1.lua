-- Members of a sorted set by time whose time lies so far back.
-- KEYS: base of the shard
-- ARGV: the set's name, ms back, at most so many
-- Returns: {now, member, member, …}
-- @include now
local now = now_ms(KEYS[1])
local set, till = KEYS[1] .. ARGV[1], string.format('%.0f', now - tonumber(ARGV[2]))
local found = {string.format('%.0f', now)}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', till, 'LIMIT', 0, ARGV[3])) do
  found[#found + 1] = member
end
return found
