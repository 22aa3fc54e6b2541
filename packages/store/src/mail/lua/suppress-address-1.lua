-- Adds an address to the suppression list. If the list already has the address, its entry stays unchanged.
-- @key base: of mail
-- @arg address: text
-- @arg about: text, JSON
-- @arg addresses_max: number
-- Returns 1 if added, 0 if it was there, 2 if the list is full
local list = base .. 'suppressions'
if redis.call('HEXISTS', list, address) == 1 then return 0 end
if redis.call('HLEN', list) >= addresses_max then return 2 end
redis.call('HSET', list, address, about)
redis.call('ZADD', base .. 'suppressed', 0, address)
return 1
