-- Ends all sessions of an API key, of the console or the portal, or its links to the portal.
-- @key base: of sessions
-- @arg key_id: text
-- Returns nothing
-- @include session-list
-- @include when-full
run_when_full(base)
for _, one in ipairs(list_sessions(base)) do
  if one.key == key_id then end_session(base, one) end
end
return redis.status_reply('OK')
