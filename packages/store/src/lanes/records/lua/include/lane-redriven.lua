-- Counts how redriven deliveries end, for the redrive that sent them. Only their ids have a generation,
-- so other deliveries cost nothing. An edited message is a new message, and is not counted.
-- @limit How long the ends of a redrive are kept after the last one. After it: the redrive shows none.
local ENDS_KEPT_MS = 1209600000
-- How long a lane remembers by which redrive its deliveries came. After it: their ends are not counted.
local SENDER_KEPT_MS = 1296000000
local PLAIN_ID_BYTES = 16

local function note_sender(base, id, delivery, task)
  local key = base .. 'redriven:by:' .. id
  redis.call('HSET', key, delivery, task)
  redis.call('PEXPIRE', key, SENDER_KEPT_MS)
end

-- `kind` is a member of ENDS.
local function count_end(base, id, delivery, kind)
  if #delivery <= PLAIN_ID_BYTES then return end
  local key = base .. 'redriven:by:' .. id
  local task = redis.call('HGET', key, delivery)
  if not task then return end
  redis.call('HDEL', key, delivery)
  redis.call('HINCRBY', base .. 'outcomes:' .. task, kind, 1)
  redis.call('PEXPIRE', base .. 'outcomes:' .. task, ENDS_KEPT_MS)
end
