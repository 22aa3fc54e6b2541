-- A first write that Redis allows when memory is full; after it the script's other writes are allowed too, so what was
-- accepted can still be parked, taken and settled. Deletes nothing: no such key is ever made.
local function run_when_full(base)
  redis.call('DEL', base .. 'never')
end
