-- Lists the processes that have reported lately.
-- @key base: of the processes
-- @arg silent_ms: number
-- Returns the time (ms), then the record of each process and the ms of its latest report
-- @include now
-- Damaged keys count as empty until the next report.
local now, found = now_ms(base), {}
found[1] = string.format('%.0f', now)
local seen = redis.pcall('ZRANGEBYSCORE', base .. 'seen', '(' .. string.format('%.0f', now - silent_ms), '+inf', 'WITHSCORES')
for i = 1, #seen, 2 do
  local record = redis.pcall('HGET', base .. 'records', seen[i])
  if type(record) == 'string' then
    found[#found + 1] = record
    found[#found + 1] = seen[i + 1]
  end
end
return found
