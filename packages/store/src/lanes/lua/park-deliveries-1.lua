-- Parks deliveries in their lanes and writes the checkpoints of their jobs, in one step. If a later run of a job has
-- stored a higher fence, or if the checkpoint is unreadable, nothing of that job changes. If field `p` of the
-- checkpoint names this batch, its entries were parked before and stay unchanged. Deliveries that are still in flight
-- get the same lease again. Deliveries of deleted subscriptions are counted as discarded.
-- @key base: of the shard
-- @arg shard: digits
-- @rest values: messages, each: id, body, group or ''; jobs, each: id or '', fence, fields (name, value), entries
--   (subscription, delivery, message, set fresh|retry|lease, delay or lease in ms, state or '', '+' if its endpoint is
--   proven, '-' if it is not, else ''). Every list is preceded by its length; messages count from 1.
-- Returns earliest due time or '', wakes published (lane-wake), then for each job 0 if it is stale, or a list with one
--   value for each entry: 1 parked, 0 present, -1 unsubscribed, the lease of a parked entry that is in flight, or '!'
--   and the error if data of the entry's lane or message is unreadable. The checkpoint of a job with such an error is
--   not written.
-- @include when-full
-- @include now
-- @include lane-next
-- @include lane-wake
-- @include lane-count
-- @include lane-lease
-- @include lane-state
-- @include lane-park
-- @include lane-try
-- How long a checkpoint is kept that its job has not deleted. After it: it is deleted.
local CHECKPOINT_KEPT_MS = 86400000
local PARKED_VALUES = 7
local FAILED = '!'
local at = values_at - 1
run_when_full(base)
local now, before = now_ms(base), first_due(base)

local function next_arg()
  at = at + 1
  return ARGV[at]
end

-- Whether some of the job's entries were parked under a lease.
local leased

local function park_entry()
  local id, delivery, message = next_arg(), next_arg(), tonumber(next_arg())
  local set, ms, state, standing = next_arg(), tonumber(next_arg()), next_arg(), next_arg()
  if not is_lane_open(base, id, now) then
    count('discarded:unsubscribed', 1)
    return -1
  end
  if is_present(base, id, delivery) then return 0 end
  hold_body(base, id, message)
  local score = set == 'lease' and new_lease(base, now + ms) or math.ceil(now + ms)
  if state ~= '' then set_failed(base, id, delivery, state, now) end
  put_in_lane(base, id, delivery, message, set, score)
  note_standing(base, id, lanes[id], standing)
  leased = leased or set == 'lease'
  return set == 'lease' and text(score) or 1
end

-- The lease that an entry got when its batch was parked before, or 0. A lease that was given later has a later end.
local function lease_again(first_at)
  local id, delivery, _, set, ms = next_arg(), next_arg(), next_arg(), next_arg(), tonumber(next_arg())
  at = at + 2
  local lease = first_at and set == 'lease' and redis.call('ZSCORE', base .. 'lease:' .. id, delivery)
  return lease and math.floor(lease / LEASE_UNIT) == math.floor(first_at + ms) and lease or 0
end

-- Parks the next entry. If it fails, the other deliveries are parked nevertheless.
local function try_entry()
  local first = at
  local works, outcome = try(park_entry)
  if works then return outcome end
  local lane = lanes[ARGV[first + 1]]
  if lane then lane.unreadable = true end
  at = first + PARKED_VALUES
  return FAILED .. outcome
end

local function has_failed(outcome)
  return type(outcome) == 'string' and string.sub(outcome, 1, 1) == FAILED
end

local function save_checkpoint(key, first, fields)
  for i = first, first + 2 * fields - 2, 2 do redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end
  redis.call('PEXPIRE', key, CHECKPOINT_KEPT_MS)
end

-- The checkpoint is written after the entries. If the script fails at an entry, the checkpoint has none of the entries.
local function park_job()
  local job, fence, fields = next_arg(), tonumber(next_arg()), tonumber(next_arg())
  local key = base .. 'checkpoint:' .. job
  local known = job ~= '' and redis.pcall('HMGET', key, CHECKPOINT.fence, CHECKPOINT.parked, CHECKPOINT.leasedAt) or {}
  local stale = known.err ~= nil or (tonumber(known[1]) or 0) > fence
  local again, fails, first_field = false, false, at + 1
  for _ = 1, fields do
    local name, value = next_arg(), next_arg()
    again = again or (name == CHECKPOINT.parked and known[2] == value)
  end
  local entries, outcomes = tonumber(next_arg()), {}
  if stale then at = at + PARKED_VALUES * entries end
  leased = false
  for i = 1, stale and 0 or entries do
    outcomes[i] = again and lease_again(tonumber(known[3])) or try_entry()
    fails = fails or has_failed(outcomes[i])
  end
  if fields > 0 and not stale and not fails then
    save_checkpoint(key, first_field, fields)
    if leased then redis.call('HSET', key, CHECKPOINT.leasedAt, text(now)) end
  end
  return stale and 0 or outcomes
end

bodies_at = at + 2
at = at + 1 + MESSAGE_VALUES * tonumber(ARGV[at + 1])
local reply = { '', 0 }
for _ = 1, tonumber(next_arg()) do
  reply[#reply + 1] = park_job()
end
finish_park(base, now)
save_leases(base)
write_counts(base)
local due, woke = wake_if_earlier(base, shard, before, now, first_unproven)
reply[1], reply[2] = due and text(due) or '', woke
return reply
