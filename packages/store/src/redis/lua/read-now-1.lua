-- The time as the scripts of the shard see it.
-- KEYS[1] the shard's prefix
-- ARGV    none
-- Returns epoch ms

-- @include now
return now_ms(KEYS[1])
