-- Counts by cause. A script collects them and writes them once, in the step that removes the counted deliveries.
local counted = {}

local function count(cause, n)
  if n > 0 then counted[cause] = (counted[cause] or 0) + n end
end

local function write_counts(base)
  for cause, n in pairs(counted) do
    redis.call('HINCRBY', base .. 'counts', cause, n)
  end
end
