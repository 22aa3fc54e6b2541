-- Settles claims. A settlement changes something only if its lease is the delivery's current one. If the subscription
-- is deleted, a retry or return is discarded and counted. If data of a lane is unreadable, the other lanes are settled
-- nevertheless.
-- @key base: of the shard
-- @arg shard: digits
-- @rest values: for each lane: subscription, '+' or '-' if its attempts have shown that its endpoint is proven or is
--   not (else ''), number of claims, their deliveries, then a lease and a result for each of them. Some results have no
--   further values: delivered, deadLettered, returnUncounted, quarantined, continueClaim. The others have two more:
--   deliveredAll  0, and the followers that were delivered with it
--   retry         delay in ms, and the retry state
--   declareDead   shortest lease in ms, and the retry state
--   returnToLane  delay in ms, and ''
--   awaitKey      delay in ms, and ''
--   awaitDlq      longest delay in ms, and ''
--   block         ms for which the lane is blocked, and the credential
--   discard       0, and the cause
-- Returns earliest due time or '', wakes published (lane-wake), then for each claim:
--   0 refused, 1 accepted, for an accepted declareDead the lease that is valid from now on, or '!' and the error if
--   data of the lane is unreadable
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-group
-- @include lane-settle
-- @include lane-whole
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local WITH_MORE = {
  deliveredAll = true, retry = true, declareDead = true, discard = true, returnToLane = true, awaitKey = true,
  awaitDlq = true, block = true,
}
local FAILED = '!'
local at, reply = values_at - 1, { '', 0 }

local function next_arg()
  at = at + 1
  return ARGV[at]
end

local function settle_claim(batch, delivery)
  local lease, op = next_arg(), next_arg()
  local ms, detail
  if WITH_MORE[op] then ms, detail = tonumber(next_arg()), next_arg() end
  local current = batch.leases[delivery]
  if not current or current ~= tonumber(lease) then return 0 end
  note_lease(batch, current)
  return settle[op](batch, delivery, detail, ms)
end

local function settle_lane(id, standing, first, last)
  local leases = redis.call('ZMSCORE', base .. 'lease:' .. id, unpack(ARGV, first, last))
  local batch = new_batch(base, id, now, first, leases)
  at = last
  local accepted = false
  for i = first, last do
    local outcome = settle_claim(batch, ARGV[i])
    accepted = accepted or outcome ~= 0
    reply[#reply + 1] = outcome
  end
  write_batch(batch)
  local moved = accepted and standing ~= '' and note_standing(base, id, batch_lane(batch), standing)
  if moved or is_due_changed(batch) then
    end_probe(batch, first, leases)
    lane_next_mending(base, id, now, batch.lane)
  end
end

-- Gives all claims of a lane the same answer, and skips their arguments.
local function pass_over(answered, first, last, message)
  for i = #reply, answered + 1, -1 do reply[i] = nil end
  at = last
  for _ = first, last do
    reply[#reply + 1] = FAILED .. message
    at = at + (WITH_MORE[ARGV[at + 2]] and 4 or 2)
  end
end

while at < #ARGV do
  local id, standing, claims = next_arg(), next_arg(), tonumber(next_arg())
  local first, last, answered = at + 1, at + claims, #reply
  local works, message = try_whole(settle_lane, id, standing, first, last)
  if not works then pass_over(answered, first, last, message) end
end
save_leases(base)
write_drops(base)
write_counts(base)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
reply[1], reply[2] = due and text(due) or '', woke
return reply
