-- Gives a task's open batch a higher number: one has been where it goes that is later than it, of which the source
-- knows nothing since a failover. What that batch remembers is over; what is moved anew may be moved a second time.
-- KEYS[1] base of the source
-- ARGV: id, fence, batch, its new number
-- Returns 1, or 0 where a later run has the task or the batch is done.
-- @include when-full
local base, key = KEYS[1], KEYS[1] .. 'redrive:' .. ARGV[1]
local h = redis.call('HMGET', key, 'fence', 'batch', 'items')
if h[1] ~= ARGV[2] or h[2] ~= ARGV[3] or not h[3] then return 0 end
run_when_full(base)
redis.call('HSET', key, 'batch', ARGV[4])
return 1
