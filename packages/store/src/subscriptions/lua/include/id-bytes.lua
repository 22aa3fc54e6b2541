-- Ids of subscriptions (subscriptions-id.ts).
local function subscription_id(uid, number, digits)
  local slice = string.format('%04x', number)
  return string.sub(uid, 1, 8) .. '-' .. string.sub(uid, 9, 12) .. '-8' .. string.sub(uid, 13) .. '-'
    .. string.sub(digits, 1, 1) .. string.sub(slice, 1, 3) .. '-' .. string.sub(slice, 4) .. string.sub(digits, 2)
end

local function hex_bytes(hex)
  local bytes = string.gsub(hex, '%x%x', function(pair) return string.char(tonumber(pair, 16)) end)
  return bytes
end

-- The 16 bytes of a UUID's text.
local function id_bytes(id)
  local hex = string.gsub(id, '-', '')
  return hex_bytes(hex)
end
