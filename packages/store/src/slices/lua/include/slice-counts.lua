-- Numbers of a slice's subscriptions by status.

local function counted_under(text)
  local readable, record = pcall(cjson.decode, text)
  if not readable or type(record) ~= 'table' or record[SUBSCRIPTION.unsubscribed] then return nil end
  return record[SUBSCRIPTION.status] or 'active'
end

-- Changes a number after the records have changed. A number that is corrupt is counted anew. An error here would leave
-- the caller's change half done.
local function count_status(base, slice, status, by)
  local key, field = base .. 'slice:' .. slice, SLICE.count .. status
  if type(redis.pcall('HINCRBY', key, field, by)) ~= 'table' then return end
  local number = 0
  for _, text in ipairs(redis.call('HVALS', base .. 'subs:' .. slice)) do
    if counted_under(text) == status then number = number + 1 end
  end
  redis.call('HSET', key, field, number)
end
