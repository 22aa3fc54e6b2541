-- FIFO: a receive that its caller may repeat for 5 minutes. Needs queue.
--
-- A list: ms of the receive, then of each message its id, the nonce of its handle, and when it comes back.
local ATTEMPT_MS = 300000
local HIDDEN_MAX_MS = 43200000
local ID_BYTES, NONCE_BYTES = 36, 12

local function attempt_key(queue, attempt) return queue.q .. 'a:' .. redis.sha1hex(attempt) end

local function note_receive(queue, attempt, id, nonce, due)
  local key = attempt_key(queue, attempt)
  if redis.call('EXISTS', key) == 0 then redis.call('RPUSH', key, string.format('%.0f', queue.clock)) end
  redis.call('RPUSH', key, id .. nonce .. string.format('%.17g', due))
  redis.call('PEXPIRE', key, ATTEMPT_MS)
end

-- The messages of an attempt: 'new' where there was none or their time is over, 'changed' where somebody has deleted or
-- received one or changed its time.
local function noted_receives(queue, attempt)
  local key, notes, over = attempt_key(queue, attempt), {}, false
  local entries = redis.call('LRANGE', key, 0, -1)
  if #entries == 0 or tonumber(entries[1]) <= queue.clock - ATTEMPT_MS then return 'new' end
  for i = 2, #entries do
    local id, nonce = string.sub(entries[i], 1, ID_BYTES), string.sub(entries[i], ID_BYTES + 1, ID_BYTES + NONCE_BYTES)
    local due = tonumber(string.sub(entries[i], ID_BYTES + NONCE_BYTES + 1))
    local h = redis.call('HMGET', queue.q .. 'i:' .. id, 'h', 't')
    if h[1] ~= nonce or tonumber(redis.call('ZSCORE', queue.q .. 'flight', id)) ~= due then return 'changed' end
    over = over or due <= queue.clock
    notes[#notes + 1] = { id = id, nonce = nonce, received = tonumber(h[2]) }
  end
  return over and 'new' or 'same', notes
end

-- Answers 'new', 'changed', or the same messages again, hidden anew until `until_ms`.
local function repeat_receive(queue, attempt, until_ms)
  local kind, notes = noted_receives(queue, attempt)
  if kind == 'changed' then return kind end
  redis.call('DEL', attempt_key(queue, attempt))
  if kind == 'new' then return kind end
  local messages = {}
  for i, note in ipairs(notes) do
    -- A receive's time has a fraction, one that somebody set has none.
    local due = math.min(until_ms, note.received + HIDDEN_MAX_MS) - (#notes - i + 1) / 1000
    hide_in_group(queue, note.id, due)
    note_receive(queue, attempt, note.id, note.nonce, due)
    messages[i] = item_of(queue, note.id)
    messages[i][10] = note.nonce
  end
  return 'same', messages
end
