-- Retry states: `A<attempts>,<status code>,<error>` or, marked dead, `D<reason>,<attempts>,<status code>,<error>`.
-- Before the error stands the decision about the next attempt, `<letter><ms in base 36>~` (why-codes.ts).
-- The lane shows its last failure, for people.
local WHY = '^(A%d+,%d*,)%l%w*~'

local function note_failure(base, id, state)
  local code, err = string.match(string.gsub(state, WHY, '%1'), '^A%d+,(%d*),(.*)$')
  if not code then code, err = string.match(state, '^D%w+,%d+,(%d*),(.*)$') end
  if code and code .. err ~= '' then redis.call('HSET', base .. 'lane:' .. id, 'h', code, 'e', err) end
end

local function set_state(base, id, delivery, state)
  redis.call('HSET', base .. 'state:' .. id, delivery, state)
  note_failure(base, id, state)
end

local function is_dead(state)
  return state and string.sub(state, 1, 1) == 'D'
end

local function dead_of_age(state)
  return 'Dexpired,' .. (state and string.match(string.gsub(state, WHY, '%1'), '^A(.*)$') or '0,,')
end
