-- Settles claims: each changes something only where its lease is the delivery's current one. In the lane of a deleted
-- subscription nothing waits again: a retry or return there is discarded and counted.
-- KEYS[1] the shard's prefix
-- ARGV    shard number; then for each claim: subscription, delivery, lease, what became of it (delivered, retry,
--         markDead, forget, discard, return, aside), ms (retry: delay, markDead: least lease), text (retry, markDead:
--         state; discard: cause; aside: detail)
-- Returns earliest due time or '', whether a wake was published (1), then for each claim 0 refused, 1 accepted, or for
--         an accepted markDead the lease that holds from now on
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-body
-- @include lane-count
-- @include lane-lease
-- @include lane-state
-- @include lane-return
-- @include lane-discard
-- @include lane-settle
local base, shard = KEYS[1], ARGV[1]
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local lanes = {}
local reply = { '', 0 }
for i = 2, #ARGV, 6 do
  local id, delivery, lease = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local current = redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
  local outcome = 0
  if current and tonumber(current) == tonumber(lease) then
    lanes[id] = lanes[id] or lane_of(base, id, now) or { gone = true }
    local claim = { base = base, now = now, lane = lanes[id], id = id, delivery = delivery, lease = lease }
    outcome = settle[ARGV[i + 3]](claim, ARGV[i + 5], tonumber(ARGV[i + 4]))
  end
  reply[#reply + 1] = outcome
end
for id, lane in pairs(lanes) do
  lane_next(base, id, now, lane)
end
save_leases(base)
write_counts(base)
local due, woke = wake_if_earlier(base, shard, before, now)
reply[1], reply[2] = due and exact(due) or '', woke and 1 or 0
return reply
