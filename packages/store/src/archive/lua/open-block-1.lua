-- Chooses the messages of the next block of a topic's archive: those behind the cursor. The choice is noted. After a
-- crash the next archiver therefore writes the same messages under the same name.
-- @key base: of the topic's home shard
-- @arg arn: text
-- @arg uid: text
-- @arg places_max: number
-- @arg bytes_max: number, the block has one place at least
-- @arg age_ms: number, how long messages wait for a block that is not full
-- @arg small_bytes: number, a smaller block waits longer
-- @arg small_age_ms: number, how long
-- Returns false if there is nothing to write yet, else two scores: the block begins behind the first, and ends with the
--   second.
-- @include now
-- @include when-full
-- @include kept
run_when_full(base)
local ring = open_ring(base, arn, uid)
if not ring or not ring.archive then return false end
local open = redis.call('HGET', ring.archive, ARCHIVE.open)
if open then return { ring.removable, open } end
local from = '(' .. ring.removable
local found = redis.call('ZRANGEBYSCORE', ring.order, from, '+inf', 'WITHSCORES', 'LIMIT', 0, places_max)
local bytes, last = 0, nil
for i = 1, #found, 2 do
  if bytes >= bytes_max then break end
  local _, of_place = measure_place(ring, found[i])
  bytes, last = bytes + of_place, found[i + 1]
end
if not last then return false end
local is_full = bytes >= bytes_max or #found == 2 * places_max
local oldest = math.floor(tonumber(found[2]) / NUMBER.KEPT_STEPS)
local wait_ms = bytes < small_bytes and small_age_ms or age_ms
if not is_full and oldest > now_ms(base) - wait_ms then return false end
redis.call('HSET', ring.archive, ARCHIVE.open, last)
return { ring.removable, last }
