-- Adds an entry to the quarantine, unless it is there already or the quarantine would grow past its bound.
-- KEYS[1] the quarantine's prefix
-- ARGV    id, bound in bytes, how many messages the entry is about, their ids, then fields and values
-- Returns 1 added, 0 already there, -1 refused because of the bound
-- @include when-full
-- @include now
local QUARANTINE_ENTRY_BYTES = 300
local base, id, max, messages = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
run_when_full(base)
local key = base .. 'entry:' .. id
if redis.call('EXISTS', key) == 1 then return 0 end
local bytes = QUARANTINE_ENTRY_BYTES + 2 * #id + messages * (#id + 100)
for i = 4 + messages, #ARGV do
  bytes = bytes + #ARGV[i]
end
local total = (tonumber(redis.call('GET', base .. 'bytes')) or 0) + bytes
if total > max then return -1 end
redis.call('HSET', key, 'at', string.format('%d', now_ms(base)), 'bytes', string.format('%d', bytes), unpack(ARGV, 4 + messages))
redis.call('ZADD', base .. 'entries', 0, id)
for i = 4, 3 + messages do
  redis.call('ZADD', base .. 'messages', 0, ARGV[i] .. ' ' .. id)
end
redis.call('SET', base .. 'bytes', string.format('%d', total))
return 1
