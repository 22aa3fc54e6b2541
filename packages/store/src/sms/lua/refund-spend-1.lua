-- Gives back the reserved cost of a text message that was certainly not sent. It runs also when memory is full.
-- @key base: of text messages
-- @arg day: text, of the reservation
-- @arg month: text, of the reservation
-- @arg cost: number, millionths of a USD
-- Returns 1
-- @include when-full
run_when_full(base)
for _, period in ipairs({ day, month }) do
  local key = base .. 'spent:' .. period
  if redis.call('EXISTS', key) == 1 and redis.call('DECRBY', key, cost) < 0 then
    redis.call('SET', key, '0', 'KEEPTTL')
  end
end
return 1
