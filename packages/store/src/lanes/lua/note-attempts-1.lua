-- Stores the results of attempts, for people: the last success, the last failure, and how many there were lately. If a
-- note is lost or repeated, only a figure is wrong.
-- @key base: of the shard
-- @list lanes
-- @item id: text, of the subscription
-- @item attempts: number
-- @item successes: number
-- @item began_ms: number, since the first of them ended
-- @item success_ms: number, since the last success; -1: there was none
-- @item failure_ms: number, since the last failure; -1: there was none
-- @item code: text, HTTP status of that failure or ''
-- @item err: text, its error or ''
-- Returns nothing
-- @include when-full
-- @include now
-- @include lane-seen
run_when_full(base)
local now = now_ms(base)

local function ms_text(ms)
  return string.format('%.0f', ms)
end

-- Whether the attempts were made at an earlier endpoint of the subscription. They say nothing about the present one. A
-- time in the future was written before the clock was set back.
local function is_left(began_at, moved)
  local at = tonumber(moved)
  return at and began_at <= at and at <= now
end

-- Notes come from several workers. A time in the future was written before the clock was set back.
local function is_newer(at, known)
  local before = tonumber(known)
  return not before or at >= before or before > now
end

for id, attempts, successes, began_ms, success_ms, failure_ms, code, err in lanes() do
  local key = base .. 'lane:' .. id
  local h = redis.call('HMGET', key, LANE.slice, LANE.seen, LANE.succeededAt, LANE.failedAt, LANE.movedAt)
  if h[1] and not is_left(now - began_ms, h[5]) then
    local seen = seen_of(h[2], now)
    seen.attempts, seen.successes = seen.attempts + attempts, seen.successes + successes
    seen.since = seen.since or now - began_ms
    local fields = { LANE.seen, pack_seen(seen) }
    if success_ms >= 0 and is_newer(now - success_ms, h[3]) then
      fields[#fields + 1], fields[#fields + 2] = LANE.succeededAt, ms_text(now - success_ms)
    end
    redis.call('HSET', key, unpack(fields))
    if failure_ms >= 0 and is_newer(now - failure_ms, h[4]) then
      redis.call('HSET', key, LANE.failedAt, ms_text(now - failure_ms), LANE.lastStatusCode, code, LANE.lastError, err)
    end
  end
end
return redis.status_reply('OK')
