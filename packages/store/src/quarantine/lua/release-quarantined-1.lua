-- Takes an entry out of the quarantine.
-- @key base: of the quarantine
-- @arg id: text
-- @list messages: that the entry is about
-- @item message: text
-- Returns 1 if it was there, else 0
-- @include when-full
run_when_full(base)
local key = base .. 'entry:' .. id
local bytes = redis.call('HGET', key, ENTRY.bytes)
if not bytes then return 0 end
redis.call('DEL', key)
redis.call('ZREM', base .. 'entries', id)
for message in messages() do
  redis.call('ZREM', base .. 'messages', message .. ' ' .. id)
end
redis.call('DECRBY', base .. 'bytes', bytes)
return 1
