-- Changes an active task: its rate, or its status. A task with a batch under way is cancelled when that batch is done.
-- KEYS[1] base of the source
-- ARGV: id, 'rate' | 'pause' | 'resume' | 'cancel', rate or ''
-- Returns 'missing', 'wrong' (not in this state), or 'ok'.
-- @include now
-- @include when-full
-- @include queue
-- @include redrive
local base, key, what = KEYS[1], KEYS[1] .. 'redrive:' .. ARGV[1], ARGV[2]
local status = redis.call('HGET', key, 'status')
if not status then return 'missing' end
local allowed = {
  rate = { running = true, paused = true },
  pause = { running = true, paused = true },
  resume = { running = true, paused = true },
  cancel = { running = true, paused = true, canceling = true },
}
if not allowed[what][status] then return 'wrong' end
run_when_full(base)
if what == 'rate' then
  redis.call('HSET', key, 'rate', ARGV[3])
elseif what == 'cancel' and redis.call('HEXISTS', key, 'items') == 0 then
  end_task(base, key, 'canceled', '', now_ms(base))
else
  redis.call('HSET', key, 'status', ({ pause = 'paused', resume = 'running', cancel = 'canceling' })[what])
end
redis.call('PUBLISH', 'ft:wake:redrives', ARGV[1])
return 'ok'
