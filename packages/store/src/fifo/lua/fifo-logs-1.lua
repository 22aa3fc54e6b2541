-- How the logs of FIFO topics and of their isolated groups stand, of those due first. Changes nothing.
-- KEYS[1] the shard's prefix
-- ARGV    what is due is looked at so far
-- Returns for each: the topic's ARN, how many messages, the first one's id (16 bytes)
local base, reply = KEYS[1], {}
for _, member in ipairs(redis.call('ZRANGE', base .. 'due', 0, ARGV[1] - 1)) do
  local name = string.match(member, '^log:(.*)$') or string.match(member, '^isolated:(.*)$')
  local uid = name and string.match(name, '^[^:]*')
  local arn = uid and redis.call('HGET', base .. 'fifo:' .. uid, 'a')
  local first = arn and redis.call('LINDEX', base .. 'log:' .. name, 0)
  if first then
    local n = #reply
    reply[n + 1], reply[n + 2] = arn, redis.call('LLEN', base .. 'log:' .. name)
    reply[n + 3] = string.sub(first, 1, 16)
  end
end
return reply
