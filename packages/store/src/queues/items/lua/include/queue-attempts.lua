-- FIFO: a receive that its caller may repeat for 5 minutes.
--
-- A list: ms of the receive, then of each message its id, the secret of its handle with its digest (a proof: the caller
-- is given the secret again), and when it comes back.
-- @include queue
-- @limit How long a receive request attempt id is remembered. After it: the same id is a new receive.
local ATTEMPT_MS = 300000
local ID_BYTES, SECRET_BYTES, PROOF_BYTES = 36, 16, 32

local function secret_of(proof) return string.sub(proof, 1, SECRET_BYTES) end
local function digest_of(proof) return string.sub(proof, SECRET_BYTES + 1) end

local function attempt_key(queue, attempt) return queue.q .. 'a:' .. redis.sha1hex(attempt) end

local function note_receive(queue, attempt, id, proof, due)
  local key = attempt_key(queue, attempt)
  if redis.call('EXISTS', key) == 0 then redis.call('RPUSH', key, string.format('%.0f', queue.clock)) end
  redis.call('RPUSH', key, id .. proof .. string.format('%.17g', due))
  redis.call('PEXPIRE', key, ATTEMPT_MS)
end

-- Takes a message out of an attempt. An attempt without messages is forgotten.
local function forget_receive(queue, attempt, id)
  local key = attempt_key(queue, attempt)
  for _, entry in ipairs(redis.call('LRANGE', key, 1, -1)) do
    if string.sub(entry, 1, ID_BYTES) == id then redis.call('LREM', key, 1, entry) end
  end
  if redis.call('LLEN', key) == 1 then redis.call('DEL', key) end
end

-- The noted messages of an attempt. 'new': there is no attempt, or its messages are visible again. 'changed': a message
-- was deleted, received, or given another time since.
local function noted_receives(queue, attempt)
  local key, notes, over = attempt_key(queue, attempt), {}, false
  local entries = redis.call('LRANGE', key, 0, -1)
  if #entries == 0 or tonumber(entries[1]) <= queue.clock - ATTEMPT_MS then return 'new' end
  for i = 2, #entries do
    local id, proof = string.sub(entries[i], 1, ID_BYTES), string.sub(entries[i], ID_BYTES + 1, ID_BYTES + PROOF_BYTES)
    local due = tonumber(string.sub(entries[i], ID_BYTES + PROOF_BYTES + 1))
    local h = members_of(queue, id, ITEM.digests, ITEM.receivedAt)
    if h[1] ~= digest_of(proof) or tonumber(redis.call('ZSCORE', queue.q .. 'flight', id)) ~= due then return 'changed' end
    over = over or due <= queue.clock
    notes[#notes + 1] = { id = id, proof = proof, received = tonumber(h[2]) or queue.clock }
  end
  return over and 'new' or 'same', notes
end

-- Returns 'new', 'changed', or the same messages, now hidden until `until_ms`.
local function repeat_receive(queue, attempt, until_ms)
  local kind, notes = noted_receives(queue, attempt)
  if kind == 'changed' then return kind end
  redis.call('DEL', attempt_key(queue, attempt))
  if kind == 'new' then return kind end
  local messages = {}
  for i, note in ipairs(notes) do
    -- The time that a receive sets has a fraction. A time that a caller sets has none.
    local due = math.min(until_ms, note.received + HIDDEN_MAX_MS) - (#notes - i + 1) / 1000
    hide_in_group(queue, note.id, due)
    note_receive(queue, attempt, note.id, note.proof, due)
    messages[i] = item_of(queue, note.id)
    messages[i][NUMBER.SECRET_AT] = secret_of(note.proof)
  end
  return 'same', messages
end
