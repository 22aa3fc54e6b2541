-- Lets a blocked lane make attempts again, because its credential works again.
-- @key base: of the shard
-- @arg shard: digits
-- @arg id: text, of the subscription
-- Returns 1 if it was blocked, else 0, earliest due time or '', wakes published (lane-wake)
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-blocked
run_when_full(base)
local now, before = now_ms(base), first_due(base)
local lane = blocked_by(base, id) and lane_of(base, id, now)
local was_blocked = lane and lane.pace and not lane.deleted
if was_blocked then
  unblock(base, id, lane)
  lane_next(base, id, now, lane)
end
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
return { was_blocked and 1 or 0, due and text(due) or '', woke }
