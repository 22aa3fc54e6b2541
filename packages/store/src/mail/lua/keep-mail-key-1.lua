-- Keeps the key that unsubscribe links are signed with, if there is none yet; in a full memory too, since mails go out
-- then.
-- @key base: of mail
-- @arg offered: text, kept if there is none yet
-- Returns the key that holds
-- @include when-full
run_when_full(base)
redis.call('SET', base .. 'links', offered, 'NX')
return redis.call('GET', base .. 'links')
