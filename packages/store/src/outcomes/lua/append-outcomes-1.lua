-- Appends bundles of entries to the outcome log, and bounds the log by its number of entries. A bundle is one element
-- of the stream. One element per entry would cost Redis more than the delivery itself.
-- @key stream: each bundle of it has n, how many entries there ever were up to its end, and p, the entries
--   (outcome-bundles.ts)
-- @arg kept_max: number, entries to keep, about
-- @arg moved_ms: number, by which the stack's time was moved (travel/travel-store.ts)
-- @list bundles
-- @item entries: number, how many the bundle has
-- @item bundle: text
-- Returns how many were appended
-- @include when-full

-- The first bundle with entries to keep, within a bounded search. Many bundles are before it only if the bound was
-- lowered.
local function first_kept(over)
  local from, last = '-', nil
  for _ = 1, 20 do
    for _, bundle in ipairs(redis.call('XRANGE', stream, from, '+', 'COUNT', 100)) do
      last = bundle[1]
      if (tonumber(bundle[2][2]) or 0) > over then return last end
    end
    from = '(' .. last
  end
  return last
end

local told = 0
run_when_full(stream)
local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if last then told = tonumber(last[2][2]) or 0 end
local before = told

-- Look-ups find bundles by the stack's time in their ids.
local function next_id()
  if moved_ms == 0 then return '*' end
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000) + moved_ms
  local ms, sequence = string.match(last and last[1] or '0-0', '(%d+)-(%d+)')
  if now > tonumber(ms) then return string.format('%.0f-0', now) end
  return ms .. '-' .. string.format('%.0f', sequence + 1)
end

for entries, bundle in bundles() do
  told = told + entries
  local id = redis.call('XADD', stream, next_id(), 'n', string.format('%d', told), 'p', bundle)
  last = { id }
end

local step = math.max(1, math.floor(kept_max / 100))
if told > kept_max and math.floor(told / step) > math.floor(before / step) then
  redis.call('XTRIM', stream, 'MINID', '~', first_kept(told - kept_max))
end
return told - before
