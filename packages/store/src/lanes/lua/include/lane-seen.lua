-- How many attempts at a lane's endpoint have ended lately, and how many of them well: LANE.seen holds `<begin of the
-- window>,<attempts>,<successes>,<those two in the window before>,<ms of the first attempt since which there was one in
-- every window>`.
local SEEN_WINDOW_MS = 30000

-- As they are in the window of `now`. since is false where no attempt ended in it or in the one before.
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

-- Attempts, successes, and the ms in which these ended.
local function seen_lately(packed, now)
  local seen = seen_of(packed, now)
  if not seen.since then return 0, 0, 0 end
  return seen.attempts + seen.attempts_before, seen.successes + seen.successes_before,
    now - math.max(seen.since, seen.window - SEEN_WINDOW_MS)
end
