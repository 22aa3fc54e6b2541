-- Bodies are kept once per shard and counted by the deliveries that refer to them.
local function keep_body(base, message, body, n)
  local key = base .. 'msg:' .. message
  redis.call('HSETNX', key, 'b', body)
  redis.call('HINCRBY', key, 'n', n)
end

local function drop_body(base, delivery)
  local key = base .. 'msg:' .. string.sub(delivery, 1, 16)
  if redis.call('HINCRBY', key, 'n', -1) <= 0 then redis.call('DEL', key) end
end
