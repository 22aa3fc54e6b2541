-- Counts the shard's topics of an account whose names begin with these prefixes, and their subscriptions. Topics of
-- every region count.
-- @key base: of the shard
-- @arg account: text
-- @rest prefixes
-- Returns {topics, subscriptions, topics, subscriptions, …}
local topics, counts = base .. 'topics', {}
for i = 1, 2 * (#ARGV - prefixes_at + 1) do counts[i] = 0 end
local function count(at, from)
  for _, arn in ipairs(redis.call('ZRANGEBYLEX', topics, '[' .. from, '(' .. from .. '\255')) do
    counts[at] = counts[at] + 1
    local slices = redis.call('HGET', base .. 'topic:' .. arn, TOPIC.slices) or ''
    for taken in string.gmatch(slices, '%d+') do counts[at + 1] = counts[at + 1] + tonumber(taken) end
  end
end
-- The list is sorted by ARN, so the names of a region lie together.
local after = '-'
while true do
  local first = redis.call('ZRANGEBYLEX', topics, after, '+', 'LIMIT', 0, 1)[1]
  if not first then return counts end
  local region = string.match(first, '^[^:]*:[^:]*:[^:]*:[^:]*:') or first
  for i = prefixes_at, #ARGV do count(2 * (i - prefixes_at) + 1, region .. account .. ':' .. ARGV[i]) end
  after = '(' .. region .. '\255'
end
