-- Removes one page of the dead letters that a filter matches. They may be visible, in flight or delayed. Other items
-- stay.
-- @key base: of the queue's shard
-- @arg arn: text
-- @arg newest: text, highest score; '' that of now
-- @arg from_score: text, cursor; '' from the start
-- @arg from_id: text, cursor; '' from the start
-- @arg looked_at_max: number
-- @arg filter_json: text, as queue-scan.lua reads it
-- Returns false if there is no such queue, else: highest score, score and id of the next cursor ('' both: the end),
--   items removed.
-- @include when-full
-- @include queue
-- @include queue-scan
local queue = open_queue(base, arn)
if not queue then return false end
run_when_full(base)
keep_clock(queue)
local highest = newest ~= '' and newest or newest_score(queue)
local found, filter = {}, read_filter(filter_json)
local score, id = scan(queue, { score = from_score, id = from_id }, filter, highest, looked_at_max, function(item, of)
  if of.reason then found[#found + 1] = item end
  return false
end)
for _, item in ipairs(found) do remove_item(queue, item) end
trim_recent(queue)
return { highest, score, id, #found }
