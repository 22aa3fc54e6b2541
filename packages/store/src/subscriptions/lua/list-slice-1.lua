-- A slice's subscriptions in the order of their ids.
-- KEYS: base of the slice's shard
-- ARGV: slice id, ids after this one, at most so many
-- Returns: {id, record, id, record, …}
local subs = KEYS[1] .. 'subs:' .. ARGV[1]
local ids = {}
for _, id in ipairs(redis.call('HKEYS', subs)) do
  if id > ARGV[2] then ids[#ids + 1] = id end
end
table.sort(ids)
local found = {}
for i = 1, math.min(#ids, tonumber(ARGV[3])) do
  found[#found + 1] = ids[i]
  found[#found + 1] = redis.call('HGET', subs, ids[i])
end
return found
