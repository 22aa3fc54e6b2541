-- Appends entries to the outcome log, bounded; many at once, because each as a command of its own costs the client more
-- than the work it tells of.
-- KEYS[1] the stream
-- ARGV    entries to keep, about; the entries, each: length of its text (4 bytes, big-endian), message id (16), text
-- Returns how many were appended
local packed, at, appended = ARGV[2], 1, 0
while at <= #packed do
  local a, b, c, d = string.byte(packed, at, at + 3)
  local length = ((a * 256 + b) * 256 + c) * 256 + d
  local id, text = string.sub(packed, at + 4, at + 19), string.sub(packed, at + 20, at + 19 + length)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'm', id, 'o', text)
  at, appended = at + 20 + length, appended + 1
end
return appended
