-- Makes a first write that Redis allows when memory is full. Redis then also allows the script's other writes, so that
-- accepted messages can still be parked, taken and settled. The write deletes a key that never exists.
local function run_when_full(base)
  redis.call('DEL', base .. 'never')
end
