-- A lease is its end in ms plus a fraction from the shard's counter of leases: 4,096 fit between two ms, exactly in a
-- double for the next decades, so no two claims of a delivery have the same. save_leases stores the counter.
local given

local function new_lease(base, till)
  given = (given or tonumber(redis.call('GET', base .. 'leases')) or 0) + 1
  return math.floor(till) + (given % 4096) / 4096
end

local function save_leases(base)
  if given then redis.call('SET', base .. 'leases', string.format('%.0f', given)) end
end

local function exact(number)
  return string.format('%.17g', number)
end
