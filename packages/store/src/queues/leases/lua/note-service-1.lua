-- Notes that an API serves the queues of a shard.
-- @key base: of the shard
-- Returns nothing
-- @include when-full
-- @include queue-lease
run_when_full(base)
note_service(base)
