-- Calls a function that reads and writes one lane. Returns true and its result. Returns false and the error if data of
-- the lane is unreadable. Every other error ends the script, because it concerns all lanes.
local function try(on_lane, ...)
  local works, result = pcall(on_lane, ...)
  if works then return true, result end
  local message = tostring(type(result) == 'table' and result.err or result)
  local code = string.match(message, '^(%u%u%u+) ') or string.match(message, '%-(%u%u%u+) ')
  if code and code ~= 'ERR' and code ~= 'WRONGTYPE' then error(result) end
  return false, message
end
