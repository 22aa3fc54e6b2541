-- Ends a session of the console or the portal, and announces that.
-- @key base: of sessions
-- @arg digest: text
-- Returns 1 if there was such a session, else 0
-- @include session-list
-- @include when-full
run_when_full(base)
for _, one in ipairs(list_sessions(base)) do
  if one.digest == digest then return end_session(base, one) end
end
return 0
