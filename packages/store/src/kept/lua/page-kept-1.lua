-- Reads a page of a topic's ring, newest first.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg before: text, score of the last message of the page before, '' for the newest page
-- @arg messages_max: digits
-- @arg bytes_max: number, the page has one message at least
-- Returns false if the topic keeps no messages, else: messages in the ring, then for each of the page its score and
--   body.
-- @include kept
local ring = open_ring(base, arn)
if not ring then return false end
local from = before == '' and '+inf' or '(' .. before
local found = redis.call('ZREVRANGEBYSCORE', ring.order, from, '-inf', 'WITHSCORES', 'LIMIT', 0, messages_max)
local page, bytes = { redis.call('ZCARD', ring.order) }, 0
for i = 1, #found, 2 do
  local body = redis.call('HGET', ring.bodies, found[i]) or ''
  bytes = bytes + #body
  if i > 1 and bytes > bytes_max then break end
  page[#page + 1] = found[i + 1]
  page[#page + 1] = body
end
return page
