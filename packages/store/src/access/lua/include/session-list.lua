-- The list of sessions, `expiry`: sorted by the ms of their end. A member is `<digest> <key id> <customer>`.

-- The live sessions, the one that ends first before the others. Damaged members are left out.
local function list_sessions(base)
  local found = {}
  for _, member in ipairs(redis.call('ZRANGE', base .. 'expiry', 0, -1)) do
    local digest, key_id, customer = member:match('^(%S+) (%S+) (%S+)$')
    if digest then
      found[#found + 1] = { member = member, digest = digest, key = key_id, customer = key_id .. ' ' .. customer }
    end
  end
  return found
end

-- Ends a session and announces that. Returns 1 if it was there, else 0: it was idle for too long.
local function end_session(base, one)
  redis.call('ZREM', base .. 'expiry', one.member)
  redis.call('PUBLISH', 'ft:wake:changes', one.digest)
  return redis.call('DEL', base .. 'session:' .. one.digest)
end
