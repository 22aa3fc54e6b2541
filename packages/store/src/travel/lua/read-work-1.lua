-- Reads the work that is due next in all shards, and the numbers of jobs. It writes nothing.
-- @key travel: of the stack
-- @rest names: prefixes of all shards, which end in a colon, and those of BullMQ's queues
-- Returns epoch ms, ms by which the stack's time is ahead of Redis's clock, the first lanes and logs with their times
-- by shard, and for each of BullMQ's queues its name, the numbers of waiting and active jobs, and the first delayed one
-- @include now
local FIRST = '19'
local heads, queues, now, first = {}, {}, 0, nil

local function read_shard(base)
  for _, line in ipairs({ 'due', 'turns' }) do
    local found = redis.call('ZRANGE', base .. line, 0, FIRST, 'WITHSCORES')
    for _, value in ipairs(found) do heads[#heads + 1] = value end
  end
end

local function read_queue(name)
  local waiting = redis.call('LLEN', name .. ':wait') + redis.call('LLEN', name .. ':paused')
    + redis.call('ZCARD', name .. ':prioritized')
  local delayed = redis.call('ZRANGE', name .. ':delayed', 0, 0, 'WITHSCORES')[2]
  for _, value in ipairs({ name, waiting, redis.call('LLEN', name .. ':active'), delayed or '' }) do
    queues[#queues + 1] = value
  end
end

if redis.call('EXISTS', travel) == 0 then return redis.error_reply('the time of this data cannot be moved') end
for i = names_at, #ARGV do
  if string.sub(ARGV[i], -1) == ':' then
    first = first or ARGV[i]
    read_shard(ARGV[i])
  else
    read_queue(ARGV[i])
  end
end
now = now_ms(first)
local offset = redis.call('GET', first .. 'skew') or '0'
return { string.format('%.0f', now), offset, heads, queues }
