-- Reads how many messages wait in the FIFO logs that are due first, logs of isolated groups included. Changes nothing.
-- @key base: of the shard
-- @arg looked_at_max: number, members of `due` that are read
-- Returns for each log: the topic's ARN, number of messages, id of the first one (16 bytes)
local reply = {}
for _, member in ipairs(redis.call('ZRANGE', base .. 'due', 0, looked_at_max - 1)) do
  local name = string.match(member, '^log:(.*)$') or string.match(member, '^isolated:(.*)$')
  local uid = name and string.match(name, '^[^:]*')
  local arn = uid and redis.call('HGET', base .. 'fifo:' .. uid, LOG.arn)
  local first = arn and redis.call('LINDEX', base .. 'log:' .. name, 0)
  if first then
    local n = #reply
    reply[n + 1], reply[n + 2] = arn, redis.call('LLEN', base .. 'log:' .. name)
    reply[n + 3] = string.sub(first, 1, 16)
  end
end
return reply
