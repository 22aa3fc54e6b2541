-- Reads messages in order of retention without changing anything. It reads at most `looked_at_max` items, and returns
-- at most `limit` of them, and no further one after 1 MiB.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg from_score: text, cursor; '' from the start
-- @arg from_id: text, cursor; '' from the start
-- @arg limit: number
-- @arg looked_at_max: number
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns false if there is no such queue, else: score and id of the next cursor ('' both: the end), items.
-- @include queue
-- @include queue-scan
-- Bodies of one script of a listing. Past it: the next round continues.
local PEEKED_BYTES_MAX = 1048576
local queue = open_queue(base, arn)
if not queue then return false end
local bytes, items = 0, {}
local cursor = { score = from_score, id = from_id }
local filter = read_filter(filter_json)
local score, id = scan(queue, cursor, filter, '', looked_at_max, function(item)
  items[#items + 1] = item_of(queue, item)
  bytes = bytes + #(items[#items][2] or '')
  return #items >= limit or bytes >= PEEKED_BYTES_MAX
end)
return { score, id, items }
