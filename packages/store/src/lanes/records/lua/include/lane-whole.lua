-- Handles one lane of a script that handles several. If data of the lane is unreadable, the script forgets the drops
-- and counts that this lane has added so far. A delivery that is still in the lane then keeps its body.
-- @include lane-body
-- @include lane-count
-- @include lane-try
local function add_up(sums, more)
  for name, n in pairs(more) do sums[name] = (sums[name] or 0) + n end
  return sums
end

-- Returns what `try` returns.
local function try_whole(on_lane, ...)
  local drops, counts = dropped, counted
  dropped, counted = {}, {}
  local works, result = try(on_lane, ...)
  dropped, counted = works and add_up(drops, dropped) or drops, works and add_up(counts, counted) or counts
  return works, result
end
