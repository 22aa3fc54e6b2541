-- A lease is its end in ms times LEASE_UNIT, plus a number from the shard's counter. The counter has 1,024 numbers per
-- ms, so no two claims of a delivery have the same lease. Leases are whole numbers, exact in a double, because small
-- sorted sets are slow with fractions. In a FIFO lane a lease is odd. A settlement then knows that its group may get a
-- new head, without asking Redis. save_leases stores the counter.
-- @include lane-next
local given

local function new_lease(base, till, fifo)
  given = (given or tonumber(redis.call('GET', base .. 'leases:given')) or 0) + 1
  return math.floor(till) * LEASE_UNIT + given * 2 % LEASE_UNIT + (fifo and 1 or 0)
end

local function is_fifo_lease(lease)
  return lease % 2 == 1
end

local function save_leases(base)
  if given then redis.call('SET', base .. 'leases:given', string.format('%.0f', given)) end
end
