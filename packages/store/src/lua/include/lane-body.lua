-- Bodies are kept once per shard and counted by the deliveries that refer to them. What a script removes is gathered
-- and taken off once for each message.
local dropped = {}

local function keep_body(base, message, body, n)
  local key = base .. 'msg:' .. message
  redis.call('HSETNX', key, 'b', body)
  redis.call('HINCRBY', key, 'n', n)
end

local function drop_body(delivery)
  local message = string.sub(delivery, 1, 16)
  dropped[message] = (dropped[message] or 0) + 1
end

local function write_drops(base)
  for message, n in pairs(dropped) do
    local key = base .. 'msg:' .. message
    if redis.call('HINCRBY', key, 'n', -n) <= 0 then redis.call('DEL', key) end
  end
end
