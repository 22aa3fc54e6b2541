// `helm test`: publishes a message to a topic, and receives it from a queue that is subscribed there. Without an API
// key it only asks whether the API is ready.
const { FANTAIL_URL: origin, FANTAIL_API_KEY: key } = process.env
const WAIT_SECONDS = 20
const name = `helm-test-${Date.now()}`

const ready = await fetch(`${origin}/readyz`)
console.log(`readyz: ${ready.status} ${await ready.text()}`)
if (!ready.ok) process.exit(1)
if (!key) {
  console.log('there is no API key, so no message was published')
  process.exit(0)
}

try {
  const { arn } = await call('PUT', `/v1/queues/${name}`, {})
  await call('PUT', `/v1/topics/${name}`, {})
  await call('POST', `/v1/topics/${name}/subscriptions`, { protocol: 'sqs', endpoint: arn })
  await call('POST', `/v1/topics/${name}/messages`, { message: name })
  const { messages } = await call('POST', `/v1/queues/${name}/receive`, {
    waitSeconds: WAIT_SECONDS,
  })
  if (!messages[0]?.body.includes(name)) throw new Error(`no message arrived within ${WAIT_SECONDS} s`)
  console.log('a published message arrived')
} finally {
  await call('DELETE', `/v1/topics/${name}`)
  await call('DELETE', `/v1/queues/${name}`)
}

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
