-- The checksum of a stored record, as checksums.ts makes it. `open`: the record's JSON without its end.
local function sum_record(open)
  return open .. ',"S":"' .. string.sub(redis.sha1hex(open), 1, 8) .. '"}'
end

local RECORD_SUM_LENGTH = #',"S":"01234567"}'
