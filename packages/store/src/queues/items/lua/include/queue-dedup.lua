-- FIFO: messages of the last 5 minutes, by deduplication id.
--
-- One string per message: `<id> <sequence> <ms> <group>`. The present scope decides which strings a send is compared
-- with. After a change of the scope, earlier messages therefore do not count, except that the same id in the same group
-- is a duplicate in both.
-- @limit How long a deduplication id of a FIFO queue is remembered. After it: the same id is a new message.
local DEDUP_MS = 300000

local function dedup_key(queue, dedup, group)
  return queue.q .. 'd:' .. redis.sha1hex(group and 'g' .. group .. '\0' .. dedup or 'q' .. dedup)
end

-- The first copy's id and sequence number. nil: the message is no duplicate.
local function first_copy(queue, dedup, group)
  for _, key in ipairs({ dedup_key(queue, dedup, group), dedup_key(queue, dedup) }) do
    local text = redis.call('GET', key)
    local id, sequence, at, of = string.match(text or '', '^(%S+) (%d+) (%d+) (.*)$')
    if id and tonumber(at) > queue.clock - DEDUP_MS and tonumber(sequence) > queue.forgot
      and (of == group or not queue.group_scope) then
      return id, sequence
    end
  end
  return nil
end

local function remember_copy(queue, dedup, group, id, sequence)
  local key = dedup_key(queue, dedup, queue.group_scope and group or nil)
  local text = string.format('%s %.0f %.0f %s', id, sequence, queue.clock, group)
  redis.call('SET', key, text, 'PX', DEDUP_MS)
end
