-- The time as the scripts of the shard see it.
-- @key base: of the shard
-- Returns epoch ms

-- @include now
return now_ms(base)
