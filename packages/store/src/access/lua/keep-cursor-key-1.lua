-- Stores the key that seals cursors, if there is none yet, or if the stored value is not a key. It runs also when
-- memory is full, because lists must work then.
-- @key base: of API keys
-- @arg offered: text, kept if there is none
-- Returns the key that is valid now
-- @include when-full
run_when_full(base)
local stored = redis.pcall('GET', base .. 'cursors')
local is_key = type(stored) == 'string' and #stored == #offered and string.match(stored, '^[%w+/]+=$')
if is_key then return stored end
redis.call('SET', base .. 'cursors', offered)
return offered
