-- Stores the pair that messages are signed with, if there is none yet. It also runs when memory is full. Without
-- the pair, messages that wait for a signature could not be delivered, and their memory could not be freed.
-- @key base: of signing
-- @arg offered: text, kept if there is none yet
-- Returns the pair that is valid now
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'pair', offered, 'NX')
return redis.call('GET', base .. 'pair')
