-- Stores the results of attempts for the figures that the API shows: the last success, the last failure, and the number
-- of recent attempts. If the call is lost or repeated, only a figure is wrong.
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
-- @item in_a_row: number, failures since the last success among these attempts
-- @item failing_ms: number, since the first of those failures; -1: there was none
-- Returns nothing
-- @include when-full
-- @include now
-- @include lane-seen
run_when_full(base)
local now = now_ms(base)

local function ms_text(ms)
  return string.format('%.0f', ms)
end

-- Whether the attempts were made at an earlier endpoint of the subscription. They then say nothing about the present
-- one. A time in the future was stored before the clock was set back.
local function is_left(began_at, moved)
  local at = tonumber(moved)
  return at and began_at <= at and at <= now
end

-- Whether the time is newer than the stored one, because several workers call this script. A time in the future was
-- stored before the clock was set back.
local function is_newer(at, known)
  local before = tonumber(known)
  return not before or at >= before or before > now
end

-- @limit How long a lane without a success counts as failing after its last failure. Past it: it is no longer listed as
-- failing.
local FAILING_MS_MAX = 86400000

-- Failures since the last success. A success that ended before the failures of another worker ends them too: that
-- only makes a series shorter.
local function note_series(key, id, known, note)
  if note.in_a_row == 0 then
    if not known.count then return end
    redis.call('HDEL', key, LANE.failedInARow, LANE.failingSince)
    redis.call('ZREM', base .. 'failing', id)
    return
  end
  local goes_on = note.successes == 0 and known.count
  local since = goes_on and known.since or ms_text(now - note.failing_ms)
  local count = (goes_on and tonumber(known.count) or 0) + note.in_a_row
  redis.call('HSET', key, LANE.failedInARow, count, LANE.failingSince, since)
  redis.call('ZADD', base .. 'failing', ms_text(now), id)
  redis.call('ZREMRANGEBYSCORE', base .. 'failing', '-inf', ms_text(now - FAILING_MS_MAX))
end

for id, attempts, successes, began_ms, success_ms, failure_ms, code, err, in_a_row, failing_ms in lanes() do
  local key = base .. 'lane:' .. id
  local h = redis.call('HMGET', key, LANE.slice, LANE.seen, LANE.succeededAt, LANE.failedAt, LANE.movedAt,
    LANE.failedInARow, LANE.failingSince)
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
    note_series(key, id, { count = h[6], since = h[7] },
      { successes = successes, in_a_row = in_a_row, failing_ms = failing_ms })
  end
end
return redis.status_reply('OK')
