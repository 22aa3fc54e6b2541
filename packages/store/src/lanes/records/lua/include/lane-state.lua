-- Retry states: `A<attempts>,<status code>,<error>`, or for a dead delivery `D<reason>,<attempts>,<status
-- code>,<error>`. The decision about the next attempt comes before the error, as `<letter><ms in base 36>~`
-- (why-codes.ts). For the figures of the API, the lane also stores its last failure and the time of that failure.
--
-- After a state, or alone, there may be ENDS_SIGN and a number: how many leases of the delivery have ended one after
-- the other. Settling the delivery writes or removes the state, which resets the number. It only exists if workers have
-- died.
local WHY = '^(A%d+,%d*,)%l%w*~'
local ENDS_SIGN = '\31'

-- The state as a worker knows it (false: none), and the number of leases that have ended.
local function split_state(state)
  local at = state and string.find(state, ENDS_SIGN, 1, true)
  if not at then return state, 0 end
  return at > 1 and string.sub(state, 1, at - 1), tonumber(string.sub(state, at + 1)) or 0
end

local function note_failure(base, id, state, now)
  local code, err = string.match(string.gsub(state, WHY, '%1'), '^A%d+,(%d*),(.*)$')
  if not code then code, err = string.match(state, '^D%w+,%d+,(%d*),(.*)$') end
  if not code or code .. err == '' then return end
  redis.call('HSET', base .. 'lane:' .. id, LANE.lastStatusCode, code, LANE.lastError, err,
    LANE.failedAt, string.format('%.0f', now))
end

local function set_state(base, id, delivery, state)
  redis.call('HSET', base .. 'state:' .. id, delivery, state)
end

-- Stores the state after an attempt.
local function set_failed(base, id, delivery, state, now)
  set_state(base, id, delivery, state)
  note_failure(base, id, state, now)
end

local function is_dead(state)
  return state and string.sub(state, 1, 1) == 'D'
end

local function dead_because(reason, state)
  return 'D' .. reason .. ',' .. (state and string.match(string.gsub(state, WHY, '%1'), '^A(.*)$') or '0,,')
end
