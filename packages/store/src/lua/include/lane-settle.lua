-- What may become of a claim whose lease is current; each answers 1, or the lease that holds from now on.
local ASIDE_MAX = 1000
local settle = {}

local function remove(claim, cause)
  discard(claim.base, claim.id, 'lease', { claim.delivery })
  if cause then count(cause, 1) end
  return 1
end

function settle.delivered(claim)
  return remove(claim)
end

function settle.forget(claim)
  return remove(claim, 'deadLettered')
end

function settle.discard(claim, cause)
  return remove(claim, cause == 'expired' and cause or 'discarded:' .. cause)
end

function settle.aside(claim, detail)
  local hex = string.gsub(claim.delivery, '.', function(c)
    return string.format('%02x', string.byte(c))
  end)
  local note = { at = claim.now, subscriptionId = claim.id, delivery = hex, detail = detail }
  redis.call('LPUSH', claim.base .. 'aside', cjson.encode(note))
  redis.call('LTRIM', claim.base .. 'aside', 0, ASIDE_MAX - 1)
  return remove(claim, 'discarded:aside')
end

function settle.retry(claim, state, delay)
  local base, id, delivery = claim.base, claim.id, claim.delivery
  if claim.lane.gone then return remove(claim, 'discarded:unsubscribed') end
  set_state(base, id, delivery, state)
  redis.call('ZREM', base .. 'lease:' .. id, delivery)
  redis.call('ZADD', base .. 'retry:' .. id, claim.now + delay, delivery)
  return 1
end

settle['return'] = function(claim)
  local base, id, delivery = claim.base, claim.id, claim.delivery
  if claim.lane.gone then return remove(claim, 'discarded:unsubscribed') end
  put_back(base, id, delivery, redis.call('HGET', base .. 'state:' .. id, delivery), claim.now)
  return 1
end

function settle.markDead(claim, state, lease_ms)
  set_state(claim.base, claim.id, claim.delivery, state)
  if tonumber(claim.lease) >= claim.now + lease_ms then return claim.lease end
  local longer = exact(new_lease(claim.base, claim.now + lease_ms))
  redis.call('ZADD', claim.base .. 'lease:' .. claim.id, longer, claim.delivery)
  return longer
end
