-- Puts lanes and logs of FIFO topics into the due sets again, after a due set was lost.
-- @key base: of the shard
-- @arg shard: digits
-- @list names
-- @item name: text, id of a subscription, or member of `due` for a log
-- Returns nothing
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-try
-- @include fifo-log
run_when_full(base)
local now, before = now_ms(base), first_due(base)

local function put(name)
  local log = log_in_due(base, name)
  if not log then return lane_next(base, name, now) end
  if redis.call('EXISTS', log.list) == 1 then redis.call('ZADD', base .. 'due', 'NX', text(now), name) end
end

-- The sweep of lanes reports a lane with unreadable data, so it is due too.
for name in names() do
  if not try(put, name) then redis.call('ZADD', base .. 'due', text(now), name) end
end
wake_if_earlier(base, shard, before, now, first_unproven)
