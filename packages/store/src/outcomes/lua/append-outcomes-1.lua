-- Appends pages of entries to the outcome log, bounded by how many entries there are. A page is one entry of the
-- stream, because each as one of its own costs Redis more than the work it tells of.
-- KEYS[1] the stream; in each page: n, how many entries were ever told up to its end; p, the entries (outcome-pages.ts)
-- ARGV    entries to keep, about; then of each page: how many entries it has, the page
-- Returns how many were appended
-- @include when-full

-- The first page that has entries to keep, as far as it is looked for: there are many before it only where fewer are
-- kept than before.
local function first_kept(over)
  local from, last = '-', nil
  for _ = 1, 20 do
    for _, page in ipairs(redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 100)) do
      last = page[1]
      if (tonumber(page[2][2]) or 0) > over then return last end
    end
    from = '(' .. last
  end
  return last
end

local max, told = tonumber(ARGV[1]), 0
run_when_full(KEYS[1])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then told = tonumber(last[2][2]) or 0 end
local before = told
for i = 2, #ARGV, 2 do
  told = told + tonumber(ARGV[i])
  redis.call('XADD', KEYS[1], '*', 'n', string.format('%d', told), 'p', ARGV[i + 1])
end

local step = math.max(1, math.floor(max / 100))
if told > max and math.floor(told / step) > math.floor(before / step) then
  redis.call('XTRIM', KEYS[1], 'MINID', '~', first_kept(told - max))
end
return told - before
