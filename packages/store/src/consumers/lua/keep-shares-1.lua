-- Renews the leases of batches that are being pushed, and ends those that no longer are. A lease that has run out is
-- not given again: somebody else may have the share by now.
-- KEYS[1] base
-- ARGV: for each batch: arn, consumer, batch, '1' to renew
-- Returns for each 1, or 0 where there was none (any more).
-- @include now
-- @include when-full
-- @include queue
-- @include queue-shares
local base = KEYS[1]
run_when_full(base)
local results = {}
for i = 1, #ARGV, 4 do
  local arn, name, batch, renew = unpack(ARGV, i, i + 3)
  local queue = open_queue(base, arn)
  local due = queue and tonumber(redis.call('ZSCORE', shares_key(queue, name), batch))
  local held = due and due > queue.clock
  if held and renew == '1' then
    hold_share(queue, name, batch)
  elseif due then
    end_shares(queue, name, { batch })
    redis.call('PUBLISH', 'ft:wake:consumers', arn)
  end
  results[#results + 1] = held and 1 or 0
end
return results
