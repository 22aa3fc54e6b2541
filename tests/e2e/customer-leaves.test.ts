/**
 * Tasks on many, over all services. A customer leaves: afterwards no key of Redis holds a text of the customer, and
 * nothing of others is lost.
 */
import type { Redis } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}/${path}`

interface Task {
  id: string
  status: string
  words: string
  counts: Record<string, number>
  results: Record<string, number>
  failures: object[]
  endedAt: string | null
}

const KEPT = { keepMessages: { seconds: 3_600, bytes: 1_048_576 } }
const FAST = {
  deliveryPolicy: { healthyRetryPolicy: { numRetries: 0, minDelayTarget: 1, maxDelayTarget: 1 } },
}

/** Publishes with the text wherever a publisher can put one. */
async function publishWith(canary: string, topic: string, more: object = {}): Promise<string> {
  const { body } = await stack().client.call<{ messageId: string }>('POST', `/v1/topics/${topic}/messages`, {
    body: { message: { text: canary }, attributes: { note: canary }, subject: canary, ...more },
    headers: { 'Idempotency-Key': `${canary}-${Math.random()}` },
  })
  return body.messageId
}

/** Every key that has the text in its name or its value. The audit log may have it. */
async function keysWith(redis: Redis, text: string): Promise<string[]> {
  const found: string[] = []
  for (const key of await redis.keys('*')) {
    if (key.startsWith('ft:{audit}:')) continue
    const stored = key.includes(text) ? text : await textOf(redis, key)
    if (stored.includes(text)) found.push(key)
  }
  return found.sort()
}

const READS: Record<string, (redis: Redis, key: string) => Promise<unknown>> = {
  string: (redis, key) => redis.getBuffer(key),
  hash: (redis, key) => redis.hgetallBuffer(key).then((fields) => Object.entries(fields).flat()),
  list: (redis, key) => redis.lrangeBuffer(key, 0, -1),
  set: (redis, key) => redis.smembersBuffer(key),
  zset: (redis, key) => redis.zrangeBuffer(key, '0', '-1'),
  stream: (redis, key) => redis.xrangeBuffer(key, '-', '+'),
}

async function textOf(redis: Redis, key: string): Promise<string> {
  const value = await READS[await redis.type(key)]?.(redis, key)
  const parts = [value].flat(5) as (Buffer | string | null)[]
  return parts.map((part) => (Buffer.isBuffer(part) ? part.toString('latin1') : String(part))).join('\n')
}

async function ended(id: string): Promise<Task> {
  return waitFor(
    async () => {
      const { status, body } = await stack().client.call<Task>('GET', `/v1/bulk/${id}`)
      return status === 200 && body.endedAt !== null ? body : undefined
    },
    { what: 'the end of the erasure', timeoutMs: 120_000 },
  )
}

async function erase(select: object): Promise<Task> {
  const plan = await stack().client.post<Task>('/v1/bulk-plans', { action: 'erase', select })
  await stack().client.post('/v1/bulk', { plan: plan.id })
  return plan
}

/** The deliveries of a message; none before the outcome log knows it. */
async function state(id: string): Promise<{ state: string; subscriptionName: string | null }[]> {
  type Found = { deliveries: { state: string; subscriptionName: string | null }[] }
  const { status, body } = await stack().client.call<Found>('GET', `/v1/messages/${id}/deliveries`)
  return status === 200 ? body.deliveries : []
}

const areAll = async (id: string, wanted: string) => {
  const deliveries = await state(id)
  return deliveries.length > 0 && deliveries.every((one) => one.state === wanted)
}

test('dead letters of many lanes go back to them, and those of other lanes stay', async () => {
  const { client } = stack()
  let status = 400
  receiver().respond('/again', () => ({ status }))
  receiver().respond('/never', { status: 400 })
  for (const path of ['again?n=1', 'again?n=2', 'never'])
    await subscribe(stack(), 'dead-many', { endpoint: hook(path), ...FAST })
  const message = await publish(stack(), 'dead-many', 'x')
  await waitFor(() => areAll(message, 'deadLettered'))
  status = 200
  const select = { q: '/again', topic: 'dead-many' }
  const plan = await client.post<Task>('/v1/bulk-plans', { action: 'redrive', select })
  expect(plan).toMatchObject({
    words: 'redrive 2 lanes, 2 dead letters',
    counts: { lanes: 2, deadLetters: 2 },
  })
  await client.post('/v1/bulk', { plan: plan.id })
  expect(await ended(plan.id)).toMatchObject({ status: 'completed', results: { redriven: 2 }, failures: [] })
  const ofAll = async () => (await state(message)).map((one) => one.state).sort()
  await waitFor(async () => (await ofAll()).join() === 'deadLettered,delivered,delivered')
  const queue = '/v1/queues/dead-many-dead-letters/messages'
  expect((await client.get<{ messages: object[] }>(queue)).messages).toHaveLength(1)
}, 60_000)

test('everything of a prefix is erased, although the API is killed meanwhile', async () => {
  const canary = 'acme-canary'
  const { client, connection, api } = stack()
  receiver().respond('/fails', { status: 400, body: canary })
  const named = { name: canary, metadata: { of: canary } }
  await subscribe(stack(), `${canary}-orders`, { endpoint: hook('fails'), ...named, ...FAST }, KEPT)
  const { id: paused } = await subscribe(stack(), `${canary}-orders`, { endpoint: hook(canary), ...named })
  await client.post(`/v1/subscriptions/${paused}/pause`)
  const fifo = { contentBasedDeduplication: true }
  await subscribe(stack(), `${canary}.fifo`, { endpoint: hook(`${canary}-fifo`) }, fifo)
  const other = await subscribe(stack(), 'other-orders', { endpoint: hook('other') })
  const dead = await publishWith(canary, `${canary}-orders`)
  await publishWith(canary, `${canary}.fifo`, { groupId: canary })
  const kept = await publish(stack(), 'other-orders', 'of another customer')
  await waitFor(async () => (await state(dead)).some((one) => one.state === 'deadLettered'))
  await waitFor(() => areAll(kept, 'delivered'))
  await client.post('/v1/redrives', {
    source: `${canary}-orders-dead-letters`,
    filter: { topic: `${canary}-orders` },
  })
  const select = { topic: `${canary}-orders` }
  const earlier = await client.post<Task>('/v1/bulk-plans', { action: 'pause', select })
  await client.post('/v1/bulk', { plan: earlier.id })
  await ended(earlier.id)
  await client.put(`/v1/quotas/${canary}`, { topics: 2, subscriptions: 3 })
  const third = () => client.call('PUT', `/v1/topics/${canary}-third`)
  expect((await third()).status).toBe(403)
  const { id, counts } = await erase({ topicPrefix: canary })
  expect(counts).toMatchObject({ topics: 2, lanes: 3 })
  const isGone = async () => (await client.call('GET', `/v1/subscriptions/${paused}`)).status === 404
  await waitFor(isGone, { what: 'the first deletions' })
  await api.kill()
  await api.start()
  const task = await ended(id)
  expect(task).toMatchObject({ status: 'completed', failures: [] })
  expect(task.results).toMatchObject({
    ...{ topics: 2, subscriptions: 3, deadLetters: expect.any(Number), quotas: 1, bulkTasks: 1 },
  })
  expect(await keysWith(connection, canary)).toEqual([])
  expect(await client.get(`/v1/subscriptions/${other.id}`)).toMatchObject({ id: other.id })
  expect(await state(kept)).toMatchObject([{ state: 'delivered' }])
  expect(await isGone()).toBe(true)
  await client.put(`/v1/quotas/${canary}`, { topics: 2, subscriptions: 3 })
  expect(await client.get(`/v1/quotas/${canary}`)).toMatchObject({
    used: { topics: 0, subscriptions: 0, storedBytes: 0 },
  })
  expect((await third()).status).toBe(201)
}, 150_000)

test('a customer of shared topics is erased by metadata, and the others keep theirs', async () => {
  const canary = 'hooli-canary'
  const { client, connection } = stack()
  receiver().respond('/refuses', { status: 400, body: 'no' })
  const metadata = { customer: canary }
  const theirs = await subscribe(
    stack(),
    'shared',
    { endpoint: hook(`refuses?of=${canary}`), metadata, name: canary, ...FAST },
    KEPT,
  )
  await subscribe(stack(), 'shared', { endpoint: hook('refuses'), name: 'stays', ...FAST })
  const message = await publish(stack(), 'shared', 'for both')
  await waitFor(() => areAll(message, 'deadLettered'))
  const task = await ended((await erase({ metadata: { key: 'customer', value: canary } })).id)
  expect(task).toMatchObject({
    status: 'completed',
    failures: [],
    results: { subscriptions: 1, deadLetters: 1 },
  })
  expect(await keysWith(connection, canary)).toEqual([])
  // A worker writes figures of weeks once a minute. They name the subscription by its id alone, and expire.
  const named = (await keysWith(connection, theirs.id)).filter(
    (key) => !/^ft:\{stats\}:(week|seats:w)/.test(key),
  )
  expect(named).toEqual([])
  const { total } = await client.get<{ total?: number }>('/v1/queues/shared-dead-letters/dead-letters')
  expect(total ?? 1).toBe(1)
  expect(await state(message)).toContainEqual(
    expect.objectContaining({ state: 'deadLettered', subscriptionName: 'stays' }),
  )
}, 60_000)
