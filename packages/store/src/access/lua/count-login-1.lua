-- Counts a login before its key is checked, so that guesses at the same time count too. It also counts other actions
-- that a session may do only a few times.
-- @key base: of sessions
-- @arg address: text
-- @arg window_ms: number
-- Returns how many logins of the address were counted in its window and not taken back, this one included, and ms until
-- the window ends
-- @include when-full
run_when_full(base)
local key = base .. 'logins:' .. address
local count = redis.call('INCR', key)
if count == 1 then redis.call('PEXPIRE', key, window_ms) end
return { count, redis.call('PTTL', key) }
