-- Finds the topic in whose ring a message is.
-- @key base: of a shard
-- @arg id: text, 16 bytes
-- @arg rings_max: number
-- Returns the topic's ARN, or false.
-- @include kept-search
for i, name in ipairs(redis.call('HKEYS', base .. 'kept')) do
  if i > rings_max then return false end
  local uid, arn = string.match(name, '^(%S+) (.*)$')
  if redis.call('HEXISTS', base .. 'kept:bodies:' .. uid, id) == 1 or kept_job_with(base, uid, id) then return arn end
end
return false
