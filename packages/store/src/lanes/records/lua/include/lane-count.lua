-- Counts deliveries by cause. A script collects the counts and writes them once. It does so in the same step in which
-- it removes the deliveries.
local counted = {}

local function count(cause, n)
  if n > 0 then counted[cause] = (counted[cause] or 0) + n end
end

local function write_counts(base)
  for cause, n in pairs(counted) do
    redis.call('HINCRBY', base .. 'counts', cause, n)
  end
end
