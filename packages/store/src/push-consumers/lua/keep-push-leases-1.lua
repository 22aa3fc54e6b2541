-- Renews the leases of batches that are being pushed, and removes those of ended batches. An expired lease is not
-- renewed, because another worker may have one in its place by now.
-- @key base: of the queue's shard
-- @list batches
-- @item arn: text
-- @item consumer: text
-- @item batch: text
-- @item renew: flag
-- Returns for each batch 1, or 0 if it had no lease (any more).
-- @include when-full
-- @include queue
-- @include push-leases
run_when_full(base)
local results = {}
for arn, consumer, batch, renew in batches() do
  -- Keys of another type cost only their own batches the lease.
  local opened, queue = pcall(open_queue, base, arn)
  local due = opened and queue and tonumber(redis.pcall('ZSCORE', push_leases_key(queue, consumer), batch))
  local valid = due and due > queue.clock
  if valid and renew then
    hold_push_lease(queue, consumer, batch)
  elseif due then
    end_push_leases(queue, consumer, { batch })
    redis.call('PUBLISH', 'ft:wake:push-consumers', arn)
  end
  results[#results + 1] = valid and 1 or 0
end
return results
