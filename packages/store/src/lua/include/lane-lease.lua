-- A lease is its end in ms times LEASE_UNIT plus a number from the shard's counter: 2,048 fit into a ms, so no two claims
-- of a delivery have the same. A whole number, exact in a double: small sorted sets are slow with fractions.
-- save_leases stores the counter.
local given

local function new_lease(base, till)
  given = (given or tonumber(redis.call('GET', base .. 'leases')) or 0) + 1
  return math.floor(till) * LEASE_UNIT + given % LEASE_UNIT
end

local function save_leases(base)
  if given then redis.call('SET', base .. 'leases', string.format('%.0f', given)) end
end
