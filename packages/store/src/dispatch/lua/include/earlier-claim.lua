-- Idempotency keys of earlier releases, which were named by the topic's ARN instead of its uid. Such a key is valid for
-- its 24 hours, unless the topic was made again after that publish.
local function earlier_claim(base, arn, key)
  local held = redis.call('GET', base .. 'idem:' .. arn .. ':' .. key)
  if not held then return false end
  local id = cjson.decode(held).ids[1]
  -- The first 48 bits of a message id are a time in ms.
  local published_at = tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16)
  local topic = cjson.decode(redis.call('HGET', base .. 'topic:' .. arn, TOPIC.record))
  return published_at >= topic[TOPIC_RECORD.createdAt] and held
end
