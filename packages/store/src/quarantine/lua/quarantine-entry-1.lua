-- Adds an entry to the quarantine, unless it is there already or the quarantine would grow past its bound.
-- @key base: of the quarantine
-- @arg id: text
-- @arg bytes_max: number, of the whole quarantine
-- @arg messages: number, how many the entry is about
-- @rest values: ids of those messages; then fields and values of the entry
-- Returns 1 added, 0 already there, -1 refused because of the bound
-- @include when-full
-- @include now
local QUARANTINE_ENTRY_BYTES = 300
local fields_at = values_at + messages
run_when_full(base)
local key = base .. 'entry:' .. id
if redis.call('EXISTS', key) == 1 then return 0 end
local bytes = QUARANTINE_ENTRY_BYTES + 2 * #id + messages * (#id + 100)
for i = fields_at, #ARGV do
  bytes = bytes + #ARGV[i]
end
local total = (tonumber(redis.call('GET', base .. 'bytes')) or 0) + bytes
if total > bytes_max then return -1 end
redis.call('HSET', key, ENTRY.at, string.format('%d', now_ms(base)), ENTRY.bytes, string.format('%d', bytes),
  unpack(ARGV, fields_at))
redis.call('ZADD', base .. 'entries', 0, id)
for i = values_at, fields_at - 1 do
  redis.call('ZADD', base .. 'messages', 0, ARGV[i] .. ' ' .. id)
end
redis.call('SET', base .. 'bytes', string.format('%d', total))
return 1
