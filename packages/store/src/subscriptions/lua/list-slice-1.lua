-- Lists a slice's subscriptions in the order of their ids.
-- @key base: of the slice's shard
-- @arg slice: text
-- @arg after: text, ids after this one
-- @arg limit: number
-- Returns: {id, record, id, record, …}
local subs = base .. 'subs:' .. slice
local ids = {}
for _, id in ipairs(redis.call('HKEYS', subs)) do
  if id > after then ids[#ids + 1] = id end
end
table.sort(ids)
local found = {}
for i = 1, math.min(#ids, limit) do
  found[#found + 1] = ids[i]
  found[#found + 1] = redis.call('HGET', subs, ids[i])
end
return found
