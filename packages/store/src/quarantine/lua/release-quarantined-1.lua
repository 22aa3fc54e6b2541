-- Takes an entry out of the quarantine.
-- KEYS[1] the quarantine's prefix
-- ARGV    id, ids of the messages that the entry is about
-- Returns 1 where it was there, else 0
-- @include when-full
local base, id = KEYS[1], ARGV[1]
run_when_full(base)
local key = base .. 'entry:' .. id
local bytes = redis.call('HGET', key, 'bytes')
if not bytes then return 0 end
redis.call('DEL', key)
redis.call('ZREM', base .. 'entries', id)
for i = 2, #ARGV do
  redis.call('ZREM', base .. 'messages', ARGV[i] .. ' ' .. id)
end
redis.call('DECRBY', base .. 'bytes', bytes)
return 1
