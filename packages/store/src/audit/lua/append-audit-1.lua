-- Appends lines to the audit trail. A batch that was appended before is not appended again, so a process may repeat it
-- after a lost reply. All streams share one order: the ids rise with every line.
-- @key base: of the audit trail
-- @arg writer: text, id of the process
-- @arg batch: number, of the writer's batches; each is higher than the one before
-- @list lines
-- @item stream: text
-- @item lines_max: number, of the stream
-- @item line: text
-- Returns 1, or 0 if the batch was appended before
-- @include now
-- @include when-full
run_when_full(base)
local noted = base .. 'writer:' .. writer
if tonumber(redis.call('GET', noted) or 0) >= batch then return 0 end
redis.call('SET', noted, batch, 'EX', 86400)
local last = redis.call('HMGET', base .. 'last', 'ms', 'count')
local ms, count = math.max(now_ms(base), tonumber(last[1] or 0)), tonumber(last[2] or 0)
for stream, lines_max, line in lines() do
  count = count + 1
  redis.call('XADD', base .. stream, 'MAXLEN', lines_max, string.format('%.0f-%.0f', ms, count), 'l', line)
end
redis.call('HSET', base .. 'last', 'ms', string.format('%.0f', ms), 'count', string.format('%.0f', count))
return 1
