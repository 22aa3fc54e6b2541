-- The throttle of a lane. `lane.rate` is in requests a second, or false without a throttle. `lane.tat` is the
-- theoretical arrival time (GCRA): the earliest ms of the next send time. send-time-bounds.ts says what workers may do
-- with send times.
-- How much further ahead send times are given out while a worker's round trips are long, because takes and replies are
-- late then. Past it: claims may be late when the worker gets them.
local DISTANT_MS_MAX = 600
-- Throttled lanes are due up to TAKE_AHEAD_MS before their send time, on a grid of TAKE_GRID_MS that differs by shard.
-- One take then serves many lanes: 64 lanes in one take cost a third of 64 takes.
local TAKE_AHEAD_MS = 200
local TAKE_GRID_MS = 100
-- A rate that begins with '=' belongs to an endpoint kind without policies. The topic's rate does not change it.
local KINDS_OWN = string.byte('=')
-- Scores of waiting deliveries from which on they lie on a shelf (group-rate.lua). All times are below it.
local SHELVED_FROM = 8796093022208
-- The rates of groups were removed, and shelves are left.
local NO_GROUPS = '-'
-- Behind it is the rate that a customer has set. It only lowers the other one.
local CUSTOMERS = '<'
local trip_ahead, phase

-- How much further ahead the shard's send times are given out. Only throttled lanes read it.
local function trip_ahead_ms(base)
  trip_ahead = trip_ahead or math.min(tonumber(redis.pcall('GET', base .. 'roundtrip')) or 0, DISTANT_MS_MAX)
  return trip_ahead
end

local function rate_of(own, slice)
  if own and string.byte(own) == KINDS_OWN then return tonumber(string.sub(own, 2)) end
  local at = own and string.find(own, CUSTOMERS, 1, true)
  if not at then return (not slice.fixed and tonumber(own)) or slice.rate end
  local rate = (not slice.fixed and tonumber(string.sub(own, 1, at - 1))) or slice.rate
  local bound = tonumber(string.sub(own, at + 1))
  return rate and math.min(rate, bound) or bound
end

local function set_rate(base, lane, rate, tat, now)
  lane.rate, lane.tat = rate, math.max(tonumber(tat) or 0, now)
  -- The clock was set back or the rate was lower, so the time gets a new value, which a take stores. No claim has a
  -- later send time than the new value, so the throttle holds and the lane continues.
  lane.tat_was_reset = lane.tat > now + NUMBER.STORED_AHEAD_MAX_MS + 1000 / rate
  if lane.tat_was_reset then lane.tat = now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(base) + 1000 / rate end
end

-- When a throttled lane is due.
local function take_time(base, tat)
  if not phase then
    phase = 0
    for i = 1, #base do
      phase = (phase * 31 + string.byte(base, i)) % TAKE_GRID_MS
    end
  end
  return math.ceil((tat - trip_ahead_ms(base) - TAKE_AHEAD_MS - phase) / TAKE_GRID_MS) * TAKE_GRID_MS + phase
end

-- How many send times of a lane may be given out now. None is before lead_ms have passed.
local function send_times_left(base, lane, now, lead_ms)
  if not lane.rate then return math.huge end
  lane.tat = math.max(lane.tat, now + lead_ms)
  return math.max(0, math.floor((now + NUMBER.SEND_AHEAD_MS + trip_ahead_ms(base) - lane.tat) / (1000 / lane.rate)) + 1)
end

-- Gives out a send time of a throttled lane, or of a throttled group in it (group-rate.lua): `at`, or the next one.
local function next_send_time(lane, group, at)
  local send = at or math.max(lane.rate and lane.tat or 0, group and group.tat or 0)
  if group then group.tat, group.moved = math.max(group.tat, send + group.gap), true end
  if lane.rate then lane.tat = math.max(lane.tat, send + 1000 / lane.rate) end
  return send
end
