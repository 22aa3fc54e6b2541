/** Fantail's own reports: the end of each message's deliveries, metrics, traces, logs, health. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

interface MessageView {
  messageId: string
  topicArn: string
  sizeBytes: number
  counts: Record<string, number>
}

interface DeliveryView {
  subscriptionId: string
  endpoint: string | null
  state: string
  attempts: number
  attemptsMax: number | null
  lastStatusCode: number | null
  reason: string | null
  nextAttemptAt: string | null
}

async function outcome(messageId: string, settled: (counts: Record<string, number>) => boolean) {
  const { client } = stack()
  const message = await waitFor(async () => {
    const { status, body } = await client.call<MessageView>('GET', `/v1/messages/${messageId}`)
    return status === 200 && settled(body.counts) ? body : undefined
  })
  const { deliveries } = await client.get<{ deliveries: DeliveryView[] }>(
    `/v1/messages/${messageId}/deliveries`,
  )
  return { message, deliveries }
}

test('says for each message what became of it at every subscription', async () => {
  const { client } = stack()
  await client.put('/v1/queues/told-dead')
  receiver().respond('/told-refused', { status: 404 })
  receiver().respond('/told-busy', { status: 503 })
  const good = await subscribe(stack(), 'told', { endpoint: hook('/told') })
  const dead = await subscribe(stack(), 'told', {
    endpoint: hook('/told-refused'),
    redrivePolicy: { deadLetterTargetArn: 'told-dead' },
  })
  const busy = await subscribe(stack(), 'told', {
    endpoint: hook('/told-busy'),
    deliveryPolicy: retries(2, { minDelayTarget: 600, maxDelayTarget: 600 }),
  })
  const messageId = await publish(stack(), 'told', 'news')
  // An attempt of more than a second goes on in its lane. On a busy machine each of the three may be the last to end.
  const { message, deliveries } = await outcome(
    messageId,
    ({ delivered, deadLettered }) => delivered === 1 && deadLettered === 1,
  )
  expect(message).toMatchObject({ messageId, sizeBytes: 4 })
  expect(message.counts).toEqual({
    delivered: 1,
    waiting: 1,
    deadLettered: 1,
    discarded: 0,
    expired: 0,
    filtered: 0,
    quarantined: 0,
  })
  const byId = new Map(deliveries.map((delivery) => [delivery.subscriptionId, delivery]))
  expect(byId.get(good.id)).toMatchObject({ state: 'delivered', attempts: 1 })
  expect(byId.get(dead.id)).toMatchObject({ state: 'deadLettered', reason: 'permanent', lastStatusCode: 404 })
  expect(byId.get(busy.id)).toMatchObject({
    state: 'waiting',
    lastStatusCode: 503,
    nextAttemptAt: expect.any(String),
  })
})

test.each(['left', 'left.fifo'])(
  'keeps the ends of %s as they were when others get the bits of those who left',
  async (topic) => {
    const { client } = stack()
    await client.put(
      `/v1/topics/${topic}`,
      topic.endsWith('.fifo') ? { contentBasedDeduplication: true } : {},
    )
    receiver().respond(`/${topic}/dead`, { status: 404 })
    receiver().respond(`/${topic}/again`, (_, n) => ({ status: n === 1 ? 503 : 200 }))
    const join = (name: string, set: object = {}) =>
      subscribe(stack(), topic, { endpoint: hook(`/${topic}/${name}`), name, ...set })
    const before = [
      await join('first'),
      await join('dead'),
      await join('again', { deliveryPolicy: retries(3) }),
      await join('none', { filterPolicy: { colour: ['red'] } }),
    ]
    const { messageId } = await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, {
      message: 'x',
      ...(topic.endsWith('.fifo') && { groupId: 'g' }),
    })
    const shown = async (isEnded: (counts: Record<string, number>) => boolean) => {
      const { message, deliveries } = await outcome(messageId, isEnded)
      const parts = deliveries.map(({ endpoint: _, attemptsMax: __, ...row }) => row)
      return {
        counts: message.counts,
        rows: parts.sort((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1)),
      }
    }
    const ended = await shown(({ delivered, deadLettered }) => delivered === 2 && deadLettered === 1)
    for (const { id } of before) await client.call('DELETE', `/v1/subscriptions/${id}`)
    const after = [await join('other-1'), await join('other-2'), await join('other-3'), await join('other-4')]
    expect(await shown(() => true)).toEqual(ended)
    for (const { id } of after) {
      const found = await client.get<{ messages: unknown[] }>(`/v1/messages?subscription=${id}`)
      expect(found.messages).toEqual([])
    }
  },
)

test('knows a message without a subscriber, and no other', async () => {
  await stack().client.put('/v1/topics/lonely')
  const { message, deliveries } = await outcome(await publish(stack(), 'lonely', 'anyone?'), () => true)
  expect([message.counts.delivered, deliveries]).toEqual([0, []])
  const unknown = await stack().client.call('GET', '/v1/messages/01900000-0000-7000-8000-000000000000')
  expect(unknown.status).toBe(404)
})

test('every service can be scraped, and what was published and delivered is counted', async () => {
  const { api, redrive } = stack()
  await subscribe(stack(), 'counted', { endpoint: hook('/counted') })
  for (let n = 0; n < 3; n++) await publish(stack(), 'counted', 'x')
  await receiver().waitForRequests(3, '/counted')
  const sample = async (url: string, name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return text.split('\n').find((line) => line.startsWith(`${name}{`) && line.includes('topic="counted"'))
  }
  expect(await sample(api.url, 'fantail_messages_published_total')).toMatch(/ 3$/)
  const worker = stack().worker(0).url
  await waitFor(async () => (await sample(worker, 'fantail_deliveries_delivered_total'))?.endsWith(' 3'))
  expect(await sample(worker, 'fantail_publish_to_arrival_seconds_count')).toMatch(/ 3$/)
  const scraped = await fetch(`${redrive?.url}/metrics`)
  expect(scraped.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(await scraped.text()).toContain('# TYPE ')
})

test('a trace that a publisher began goes on to the webhook', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await subscribe(stack(), 'traced', { endpoint: hook('/traced') })
  const options = { body: { message: 'x' }, headers: { traceparent } }
  await stack().client.call('POST', '/v1/topics/traced/messages', options)
  const [request] = await receiver().waitForRequests(1, '/traced')
  expect(request?.headers.traceparent).toBe(traceparent)
})

test('one log line describes a publish, by the request id that the publisher got', async () => {
  await stack().client.put('/v1/topics/logged')
  const { headers, body } = await stack().client.call<{ messageId: string }>(
    'POST',
    '/v1/topics/logged/messages',
    {
      body: { message: 'secret text' },
    },
  )
  const line = await waitFor(() =>
    stack()
      .api.logLines()
      .find(({ messageId }) => messageId === body.messageId),
  )
  expect(line).toMatchObject({ msg: 'message.published', requestId: headers['x-request-id'] })
  expect(JSON.stringify(line)).not.toContain('secret text')
})

test('health differs from readiness', async () => {
  for (const service of stack().services()) {
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${service.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      // This Redis loses its data at a restart, which is acceptable in local mode.
      { status: 'degraded', checks: { redis: 'ok' }, degraded: [{ reason: 'no_persistence' }] },
    ])
  }
  await stack().redis.freeze()
  try {
    for (const service of stack().services()) {
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
      expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
    }
  } finally {
    await stack().redis.thaw()
  }
  for (const service of stack().services()) await waitFor(() => service.isReady())
})

test('the API describes itself', async () => {
  const { url } = stack().api
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string; paths: object }
  expect(document.openapi).toMatch(/^3\.1/)
  expect(Object.keys(document.paths)).toContain('/v1/topics/{topic}/messages')
  const page = await (await fetch(`${url}/docs`)).text()
  expect(page).toContain('<html')
  expect(page).not.toMatch(/(src|href)="https?:/)
})
