-- Reserves the cost of a text message before it is sent. Nothing is reserved if the number is opted out. It runs also
-- when memory is full, because the end of the delivery frees more memory than this takes.
-- @key base: of text messages
-- @arg number: text, the phone number
-- @arg day: text, UTC, 2026-11-23
-- @arg month: text, UTC, 2026-11
-- @arg cost: number, millionths of a USD
-- @arg day_max: number, millionths of a USD
-- @arg month_max: number, millionths of a USD
-- Returns 'reserved', 'optedOut', or 'spent' if a limit would be exceeded; then DefaultSenderID, DefaultSMSType,
-- DeliveryStatusIAMRole and DeliveryStatusSuccessSamplingRate, each empty if it is not set. If the limit or the amount
-- of the month cannot be read: 'damaged' and its key, and nothing is reserved
-- @include when-full
run_when_full(base)
local set = redis.call('HMGET', base .. 'attributes', 'DefaultSenderID', 'DefaultSMSType', 'DeliveryStatusIAMRole',
  'DeliveryStatusSuccessSamplingRate', 'MonthlySpendLimit')

local function answer(outcome)
  return { outcome, set[1] or '', set[2] or '', set[3] or '', set[4] or '' }
end

if redis.call('ZSCORE', base .. 'opted-out', number) then return answer('optedOut') end
if set[5] then
  local limit = tonumber(set[5])
  if not limit then return { 'damaged', base .. 'attributes' } end
  month_max = math.min(month_max, limit * 1000000)
end

-- The amount of a period, or nil if it cannot be read.
local function spent(key)
  local text = redis.pcall('GET', key) or '0'
  return type(text) == 'string' and string.match(text, '^%d+$') and tonumber(text) or nil
end

local daily = base .. 'spent:' .. day
local monthly = base .. 'spent:' .. month
local onDay, inMonth = spent(daily), spent(monthly)
if not inMonth then return { 'damaged', monthly } end
if not onDay then
  -- No more was spent on the day than in the month.
  onDay = inMonth
  redis.call('SET', daily, string.format('%.0f', inMonth), 'EX', 172800)
end
if onDay + cost > day_max or inMonth + cost > month_max then return answer('spent') end
redis.call('INCRBY', daily, cost)
redis.call('EXPIRE', daily, 172800)
redis.call('INCRBY', monthly, cost)
redis.call('EXPIRE', monthly, 5356800)
return answer('reserved')
