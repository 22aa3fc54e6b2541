-- The UUID text of 16 bytes.
local function id_text(bytes)
  local hex = string.gsub(bytes, '.', function(c) return string.format('%02x', string.byte(c)) end)
  return table.concat({
    string.sub(hex, 1, 8), string.sub(hex, 9, 12), string.sub(hex, 13, 16), string.sub(hex, 17, 20),
    string.sub(hex, 21),
  }, '-')
end
