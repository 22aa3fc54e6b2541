-- Makes empty data that of a stack whose time can be moved. Other data is not touched. Two things do not count as data,
-- because they are there before the services check: BullMQ's `meta` of a queue, and the list of processes.
-- @key travel: of the stack
-- @arg id: text, for empty data
-- @arg processes: text, prefix of the list's keys
-- Returns the id of the stack, or '' if there is other data
local known = redis.call('GET', travel)
if known then return known end
local cursor = '0'
repeat
  local step = redis.call('SCAN', cursor, 'MATCH', 'ft:*', 'COUNT', 1000)
  cursor = step[1]
  for _, key in ipairs(step[2]) do
    local is_listed = string.sub(key, 1, #processes) == processes
    if not is_listed and not string.match(key, ':meta$') then return '' end
  end
until cursor == '0'
redis.call('SET', travel, id)
return id
