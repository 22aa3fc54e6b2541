-- Keeps a topic's own queue within its bytes.
-- @include queue
-- @include lane-count
-- Messages that one script removes from a topic's own queue because it is full. Past it: the next script continues.
local TRIMMED_MAX = 1000
-- Messages of an open batch of a redrive that one script passes over. Past it: it removes no more.
local PASSED_OVER_MAX = 1000

local function letter_bytes(queue)
  return tonumber(redis.call('HGET', queue.letters, queue.arn)) or 0
end

-- Removes the oldest messages. The newest one stays, whatever its size. Returns how many were removed, and for each
-- dead letter among them four values: id, subscription ARN, message id, status code or ''.
local function trim_letters(queue, bytes_max)
  local age, removed, passed, letters = queue.q .. 'age', 0, 0, {}
  while removed < TRIMMED_MAX and passed < PASSED_OVER_MAX and letter_bytes(queue) > bytes_max do
    local id = redis.call('ZRANGE', age, passed, passed + 1)
    if #id < 2 then break end
    if redis.call('ZSCORE', queue.q .. 'chosen', id[1]) then
      passed = passed + 1
    else
      local item = members_of(queue, id[1], ITEM.subscription, ITEM.message, ITEM.statusCode)
      if item[1] then
        for _, value in ipairs({ id[1], item[1], item[2], item[3] }) do letters[#letters + 1] = value end
      end
      remove_item(queue, id[1])
      removed = removed + 1
    end
  end
  count('discarded:deadLetterQuota', removed)
  if removed > 0 then trim_recent(queue) end
  return removed, letters
end
