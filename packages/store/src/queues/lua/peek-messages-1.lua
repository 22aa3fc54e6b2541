-- Reads messages in order of retention without changing anything: at most `limit`, `max` looked at, 4 MiB.
-- KEYS[1] base
-- ARGV: arn, cursor's score and id ('' both: from the start), limit, max, filter (five values, queue-scan.lua)
-- Returns false where there is no such queue, else: score and id of the next cursor ('' both: the end), items.
-- @include queue
-- @include queue-scan
-- @limit Bodies of one script of a listing. Past it: the next round goes on.
local PEEKED_BYTES_MAX = 4194304
local queue = open_queue(KEYS[1], ARGV[1])
if not queue then return false end
local limit, bytes, items = tonumber(ARGV[4]), 0, {}
local filter = read_filter(unpack(ARGV, 6, 10))
local score, id = scan(queue, { score = ARGV[2], id = ARGV[3] }, filter, '', tonumber(ARGV[5]), function(id)
  items[#items + 1] = item_of(queue, id)
  bytes = bytes + #items[#items][2]
  return #items >= limit or bytes >= PEEKED_BYTES_MAX
end)
return { score, id, items }
