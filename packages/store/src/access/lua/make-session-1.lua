-- Stores a session of the console or the portal, or a link to the portal. Past sessions_max, the sessions that would
-- end first end now.
-- @key base: of sessions
-- @arg digest: text, SHA-256 of the session's token, hex
-- @arg record: text
-- @arg idle_ms: number
-- @arg ends_at: number, ms
-- @arg now: number, ms
-- @arg sessions_max: number
-- Returns nothing
redis.call('ZREMRANGEBYSCORE', base .. 'ends', '-inf', string.format('%.0f', now))
local past = redis.call('ZCARD', base .. 'ends') + 1 - sessions_max
for _, old in ipairs(past > 0 and redis.call('ZRANGE', base .. 'ends', 0, past - 1) or {}) do
  redis.call('DEL', base .. 'session:' .. old)
  redis.call('ZREM', base .. 'ends', old)
  redis.call('PUBLISH', 'ft:wake:changes', old)
end
redis.call('SET', base .. 'session:' .. digest, record, 'PX', string.format('%.0f', idle_ms))
redis.call('ZADD', base .. 'ends', string.format('%.0f', ends_at), digest)
return redis.status_reply('OK')
