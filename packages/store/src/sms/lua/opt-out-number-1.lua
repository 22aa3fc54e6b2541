-- Adds a phone number to the opt-out list. If the list already has the number, nothing changes.
-- @key base: of text messages
-- @arg number: text
-- @arg numbers_max: number
-- Returns 1 if added, 0 if it was there, 2 if the list is full
local list = base .. 'opted-out'
if redis.call('ZSCORE', list, number) then return 0 end
if redis.call('ZCARD', list) >= numbers_max then return 2 end
return redis.call('ZADD', list, 0, number)
