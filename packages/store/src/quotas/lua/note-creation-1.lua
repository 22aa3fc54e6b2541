-- Notes a creation in its quotas. A note that its process has not removed ends by itself.
-- @key base: of quotas
-- @arg member: text, what is created: topics or subscriptions
-- @arg id: text, of the creation
-- @arg note_ms: number
-- @rest names
-- Returns for each quota how many creations were noted before this one
-- @include now
local now, before = now_ms(base), {}
local ends = string.format('%.0f', now + note_ms)
for i = names_at, #ARGV do
  local notes = base .. 'creating:' .. member .. ':' .. ARGV[i]
  redis.call('ZREMRANGEBYSCORE', notes, '-inf', string.format('%.0f', now))
  -- A note that ends later than this one was made before the clock was set back.
  redis.call('ZREMRANGEBYSCORE', notes, '(' .. ends, '+inf')
  before[#before + 1] = redis.call('ZCARD', notes)
  redis.call('ZADD', notes, ends, id)
  redis.call('PEXPIRE', notes, note_ms)
end
return before
