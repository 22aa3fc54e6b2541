-- The jobs that wait in a dispatch queue.
-- @key queue: beginning of the queue's keys, which are BullMQ's
-- Returns how many wait, and the epoch ms of the publish of the next one's first message, or of the job if it is a part

local wait = queue .. ':wait'
local job = queue .. ':' .. (redis.call('LINDEX', wait, -1) or '')
local data, added = unpack(redis.call('HMGET', job, 'data', JOB.addedAt))
-- A text in the message cannot match, because its quotes are escaped.
local published = string.match(data or '', '"publishedAt":(%d+)')
return { redis.call('LLEN', wait), tonumber(published or added or 0) }
