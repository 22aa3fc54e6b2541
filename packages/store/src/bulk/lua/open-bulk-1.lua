-- Reads the next batch of a bulk task, and renews the lease. The first run that opens a batch stores how its objects
-- were before. A run that repeats the batch after a crash gets this, and knows what the task has changed.
-- @key base: of bulk tasks
-- @arg id: text
-- @arg fence: text
-- @arg objects_max: number
-- @arg lease_ms: number
-- @arg before: text, JSON to store if the batch has none yet, or ''
-- Returns false if another run has the task, or a list: status, the objects, how they were before or ''
-- @include now
-- @include when-full
run_when_full(base)
local task = base .. 'task:' .. id
local h = redis.call('HMGET', task, BULK.fence, BULK.status, BULK.done, BULK.before)
if h[1] ~= fence then return false end
redis.call('ZADD', base .. 'running', string.format('%.0f', now_ms(base) + lease_ms), id)
if not h[4] and before ~= '' then redis.call('HSET', task, BULK.before, before) end
local first = tonumber(h[3])
return { h[2], redis.call('LRANGE', base .. 'objects:' .. id, first, first + objects_max - 1), h[4] or before }
