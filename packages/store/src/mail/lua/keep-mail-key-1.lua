-- Stores the key that signs unsubscribe links, if there is none yet. It runs also when memory is full, because mails
-- are sent then too.
-- @key base: of mail
-- @arg offered: text, kept if there is none yet
-- Returns the key that is valid now
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'links', offered, 'NX')
return redis.call('GET', base .. 'links')
