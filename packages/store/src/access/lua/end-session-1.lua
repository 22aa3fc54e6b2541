-- Ends a session of the console or the portal, and announces that.
-- @key base: of sessions
-- @arg digest: text
-- Returns 1 if there was such a session, else 0
-- @include when-full
run_when_full(base)
local found = redis.call('DEL', base .. 'session:' .. digest)
redis.call('ZREM', base .. 'ends', digest)
redis.call('PUBLISH', 'ft:wake:changes', digest)
return found
