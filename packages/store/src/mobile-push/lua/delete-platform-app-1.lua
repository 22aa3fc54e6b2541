-- Deletes a platform application with its endpoints. It runs also when memory is full.
-- @key base: of the application's shard
-- @arg app: text, its ARN
-- Returns 1 if it was there, else 0
-- @include when-full
run_when_full(base)
redis.call('ZREM', base .. 'apps', app)
redis.call('UNLINK', base .. 'devices:' .. app, base .. 'devicetokens:' .. app, base .. 'deviceids:' .. app)
return redis.call('DEL', base .. 'app:' .. app)
