-- Counts the recent attempts at a lane's endpoint and their successes, in windows of SEEN_WINDOW_MS. LANE.seen holds
-- `<start of the window>,<attempts>,<successes>,<attempts and successes of the window before>,<start of the series>`. A
-- series is a time in which every window has had an attempt. Its start is the ms of its first attempt.
local SEEN_WINDOW_MS = 30000

-- The counts for the window of `now`. `since` is false if no attempt ended in this window or in the one before.
local function seen_of(packed, now)
  local window = math.floor(now / SEEN_WINDOW_MS) * SEEN_WINDOW_MS
  local at, n, ok, n_before, ok_before, since =
    string.match(packed or '', '^(%d+),(%d+),(%d+),(%d+),(%d+),(%d+)$')
  at, since = tonumber(at), tonumber(since)
  if at == window then
    return {
      window = window, attempts = tonumber(n), successes = tonumber(ok),
      attempts_before = tonumber(n_before), successes_before = tonumber(ok_before), since = since,
    }
  end
  local follows = at == window - SEEN_WINDOW_MS
  return {
    window = window, attempts = 0, successes = 0, attempts_before = follows and tonumber(n) or 0,
    successes_before = follows and tonumber(ok) or 0, since = follows and since,
  }
end

local function pack_seen(seen)
  return string.format('%.0f,%.0f,%.0f,%.0f,%.0f,%.0f', seen.window, seen.attempts, seen.successes,
    seen.attempts_before, seen.successes_before, seen.since)
end

-- Attempts, successes, and the length in ms of the time in which they ended.
local function seen_lately(packed, now)
  local seen = seen_of(packed, now)
  if not seen.since then return 0, 0, 0 end
  return seen.attempts + seen.attempts_before, seen.successes + seen.successes_before,
    now - math.max(seen.since, seen.window - SEEN_WINDOW_MS)
end
