-- Appends messages to a FIFO log, in order, all or none, each with the next sequence number. A message is not stored if
-- its deduplication id was accepted in the last 5 minutes. It then gets the receipt of the first message. If the
-- request's idempotency key is known, nothing is stored, and the earlier receipts are returned. When memory is full,
-- Redis refuses the script.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg shard: digits
-- @arg idempotency_key: text, or ''
-- @arg request_hash: text
-- @arg kept_ms: digits, how long the key is kept
-- @list messages
-- @item id: text, 16 bytes
-- @item group: text
-- @item deduplication: text, id
-- @item body: text, JSON up to the place in its checksum where the sequence number follows
-- Returns 'missing' (there is no such topic), 'standard' (it is not FIFO), the value of the key in a list, or a list:
--   - earliest due time or ''
--   - wakes published (lane-wake)
--   - for each message: id (16 bytes), sequence number, 1 if it is a duplicate
-- @include now
-- @include lane-wake
-- @include lane-body
-- @include id-text
-- @limit How long a deduplication id of a FIFO topic is remembered. After it: the same id is a new message.
local DEDUPLICATION_MS = 300000
local record, uid = unpack(redis.call('HMGET', base .. 'topic:' .. arn, TOPIC.record, TOPIC.uid))
if not record then return 'missing' end
local topic = cjson.decode(record)
if not topic[TOPIC_RECORD.fifo] then return 'standard' end
local key = idempotency_key ~= '' and base .. 'idem:' .. uid .. ':' .. idempotency_key
local known = key and redis.call('GET', key)
if known then return { known } end
local by_group = topic[TOPIC_RECORD.fifoThroughputScope] == 'MessageGroup'
local now, before = now_ms(base), first_due(base)
local last, stored, reply = nil, 0, { '', 0 }

-- The number also rises with the clock. It therefore never falls, even if Redis has lost its latest writes.
local function next_number()
  last = last or tonumber(redis.call('HGET', base .. 'fifo:' .. uid, LOG.sequence)) or 0
  last = math.max(last + 1, now * 1000)
  return '1' .. string.format('%019.0f', last)
end

local function append(id, group, deduplication, body)
  local name = base .. 'dedup:' .. uid .. ':' .. (by_group and group .. ' ' or '') .. deduplication
  local first = redis.call('GET', name)
  if first and tonumber(string.sub(first, 37)) > now - DEDUPLICATION_MS then
    return string.sub(first, 1, 16), string.sub(first, 17, 36), 1
  end
  local number = next_number()
  redis.call('SET', name, id .. number .. string.format('%.0f', now), 'PX', DEDUPLICATION_MS)
  keep_body(base, id, body .. number .. '","sequenceNumber":"' .. number .. '"}', 1, uid)
  redis.call('RPUSH', base .. 'log:' .. uid, id .. group)
  stored = stored + 1
  return id, number, 0
end

local receipt = { h = request_hash, ids = {}, numbers = {} }
for id, group, deduplication, body in messages() do
  local first, number, duplicate = append(id, group, deduplication, body)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = first, number, duplicate
  if key then
    receipt.ids[#receipt.ids + 1], receipt.numbers[#receipt.numbers + 1] = id_text(first), number
  end
end
if key then redis.call('SET', key, cjson.encode(receipt), 'PX', kept_ms) end
if stored > 0 then
  redis.call('HSET', base .. 'fifo:' .. uid, LOG.arn, arn, LOG.sequence, string.format('%.0f', last))
  -- If the log is in `due` already, its reader sees the new message before it ends its lease.
  redis.call('ZADD', base .. 'due', 'NX', string.format('%.0f', now), 'log:' .. uid)
end
local due, woke = wake_if_earlier(base, shard, before, now)
reply[1], reply[2] = due and string.format('%.0f', due) or '', woke
return reply
