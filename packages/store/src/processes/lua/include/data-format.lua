-- The format of the data, JSON of:
-- - format: its number
-- - capabilities: names of those in effect → ms since when
-- - pending: capabilities, or `#` and a number of a format → ms since when every report has known it
-- - at: ms of the latest report
-- The names that a process knows, as a set.
local function set_of(values, from)
  local names = {}
  for i = from, #values do names[values[i]] = true end
  return names
end

local function has_times(names)
  if type(names) ~= 'table' then return false end
  for name, since in pairs(names) do
    if type(name) ~= 'string' or type(since) ~= 'number' then return false end
  end
  return true
end

-- nil if the text is none of these.
local function parse_data(text)
  local is_json, data = pcall(cjson.decode, text)
  if not is_json or type(data) ~= 'table' or type(data.format) ~= 'number' then return nil end
  if data.format ~= math.floor(data.format) or math.abs(data.format) > 1e9 then return nil end
  if not has_times(data.capabilities) or not has_times(data.pending) then return nil end
  if data.at ~= nil and type(data.at) ~= 'number' then return nil end
  return data
end

-- A process that has used these data before tells what it knows of them. If Redis was emptied or has an older backup
-- now, that is in effect again, because the process acts on it.
local function add_known(data, known)
  data.format = math.max(data.format, known.format)
  for name, since in pairs(known.capabilities) do data.capabilities[name] = since end
end

local function is_known(data, oldest, newest, names)
  if data.format < oldest or data.format > newest then return false end
  for name in pairs(data.capabilities) do
    if not names[name] then return false end
  end
  return true
end

-- Lets what every report has known for long enough take effect. `gap_ms_max`: a longer time since the latest report
-- means that the clock was set, or that nothing ran. The wait then begins again.
local function note_report(data, own, now, effect_after_ms, gap_ms_max)
  local gap = now - (data.at or now)
  local pending = {}
  local function wait_for(name)
    local since = gap >= 0 and gap <= gap_ms_max and data.pending[name] or now
    if now - since < effect_after_ms then
      pending[name] = since
      return false
    end
    return true
  end
  for name in pairs(own.names) do
    if not data.capabilities[name] and wait_for(name) then data.capabilities[name] = now end
  end
  if own.newest > data.format and wait_for('#' .. own.newest) then data.format = own.newest end
  data.pending, data.at = pending, now
end
