-- Stores the key that signs unsubscribe links, if there is none yet, or if what is stored is none. Without the key no
-- worker starts. It runs also when memory is full, because mails are sent then too.
-- @key base: of mail
-- @arg offered: text, kept if there is none
-- Returns the key that is valid now
-- @include when-full
run_when_full(base)
local stored = redis.pcall('GET', base .. 'links')
local is_key = type(stored) == 'string' and #stored == #offered and string.match(stored, '^[%w+/]+=$')
if is_key then return stored end
redis.call('SET', base .. 'links', offered)
return offered
