-- Reads the push consumers of a queue, and how many batches of each are being pushed.
-- @key base: of the queue's shard
-- @arg arn: text
-- Returns false if there is no such queue, else: now, then record and number of batches for each consumer
-- @include queue
local queue = open_queue(base, arn)
if not queue then return false end
local found = {}
for i, text in ipairs(redis.call('HGETALL', queue.q .. 'push-consumers')) do
  if i % 2 == 1 then
    local leases = redis.call('ZCOUNT', queue.q .. 'push-leases:' .. text, '(' .. string.format('%.17g', queue.clock), '+inf')
    found[#found + 1] = { false, leases }
  else
    found[#found][1] = text
  end
end
return { string.format('%.0f', queue.now), found }
