-- Stores what a process reports about itself, and removes processes that have been silent for too long. Refuses a
-- process that does not know the data, and writes nothing then.
-- @key base: of the processes
-- @arg id: text
-- @arg record: text
-- @arg silent_ms: number
-- @arg processes_max: number
-- @arg known: text, the data as the reply before had them, or '' in the first report of a process
-- @arg oldest: number, format that the process reads
-- @arg newest: number
-- @arg effect_after_ms: number
-- @arg gap_ms_max: number, between two reports
-- @rest capabilities
-- Returns 1 if it is listed, 0 if there are too many other processes, 2 if it is refused; then the data
-- @include now
-- @include when-full
-- @include data-format
run_when_full(base)
local seen, records, now = base .. 'seen', base .. 'records', now_ms(base)
local own = { newest = newest, names = set_of(ARGV, capabilities_at) }
local before = parse_data(known)
local data = parse_data(redis.pcall('GET', base .. 'format')) or before
if not data then
  data = { format = newest, capabilities = {}, pending = {} }
  for name in pairs(own.names) do data.capabilities[name] = now end
end
if before then add_known(data, before) end
if not is_known(data, oldest, newest, own.names) then return { 2, cjson.encode(data) } end
-- The list serves only those who look at it. If it is damaged, it is made anew.
if redis.call('TYPE', seen).ok ~= 'zset' then redis.call('DEL', seen) end
if redis.call('TYPE', records).ok ~= 'hash' then redis.call('DEL', records) end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now - silent_ms)) do
  redis.call('HDEL', records, old)
  redis.call('ZREM', seen, old)
end
note_report(data, own, now, effect_after_ms, gap_ms_max)
redis.call('SET', base .. 'format', cjson.encode(data))
local is_full = not redis.call('ZSCORE', seen, id) and redis.call('ZCARD', seen) >= processes_max
if not is_full then
  redis.call('HSET', records, id, record)
  redis.call('ZADD', seen, string.format('%.0f', now), id)
end
return { is_full and 0 or 1, cjson.encode(data) }
