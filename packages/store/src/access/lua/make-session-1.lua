-- Stores a session of the console or the portal, or a link to the portal. Past a bound, sessions end that would end
-- first: past customer_max those of the same customer, past key_max those of the customer with the most sessions of the
-- same key, past sessions_max those of the key with the most. So no key and no customer ends many sessions of others.
-- @key base: of sessions
-- @arg digest: text, SHA-256 of the session's token, hex
-- @arg key_id: text, the API key with which the session acts
-- @arg customer: text, for whom the key has made it
-- @arg record: text
-- @arg idle_ms: number
-- @arg ends_at: number, ms
-- @arg now: number, ms
-- @arg customer_max: number
-- @arg key_max: number
-- @arg sessions_max: number
-- Returns nothing
-- @include session-list
redis.call('ZREMRANGEBYSCORE', base .. 'expiry', '-inf', string.format('%.0f', now))
local live = list_sessions(base)

-- How many live sessions have this value in the field, and which value most of them have in the field `by`.
local function tally(field, value, by)
  local count, counts, most = 0, {}, nil
  for _, one in ipairs(live) do
    if one[field] == value then
      local other = one[by]
      count, counts[other] = count + 1, (counts[other] or 0) + 1
      if most == nil or counts[other] > counts[most] then most = other end
    end
  end
  return count, most
end

local function end_first_of(customer_name)
  for at, one in ipairs(live) do
    if one.customer == customer_name then
      end_session(base, table.remove(live, at))
      return
    end
  end
end

-- Makes the sessions with this value in the field fewer than max.
local function keep_below(max, field, value)
  while true do
    local count, key_of_most = tally(field, value, 'key')
    if count < max then return end
    local _, customer_of_most = tally('key', key_of_most, 'customer')
    end_first_of(field == 'customer' and value or customer_of_most)
  end
end

keep_below(customer_max, 'customer', key_id .. ' ' .. customer)
keep_below(key_max, 'key', key_id)
keep_below(sessions_max, 'any', nil)
redis.call('SET', base .. 'session:' .. digest, record, 'PX', string.format('%.0f', idle_ms))
redis.call('ZADD', base .. 'expiry', string.format('%.0f', ends_at), digest .. ' ' .. key_id .. ' ' .. customer)
return redis.status_reply('OK')
