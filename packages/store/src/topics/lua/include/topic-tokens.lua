-- The index from a confirmation token to a topic's subscription. `old` and `new` are SHA-1 or ''.
local function set_token(base, uid, raw_id, old, new)
  local key = base .. 'tokens:' .. uid
  if old ~= '' and old ~= new then redis.call('HDEL', key, old) end
  if new ~= '' then redis.call('HSET', key, new, raw_id) end
end
