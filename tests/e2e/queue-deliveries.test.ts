/** Queues and their consumers, and redriving of dead letters. */
import { startFairTimer, steadyNow, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../harness/redis/redis-time.ts'
import type { ErrorBody } from '../harness/services/rest-client.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

interface Received {
  messageId: string
  receiptHandle: string
  receiveCount: number
  body: string
}

interface Task {
  id: string
  status: string
  matched: number
  moved: number
  skipped: number
}

async function receive(queue: string, options: Record<string, number> = {}): Promise<Received[]> {
  return (await stack().client.post<{ messages: Received[] }>(`/v1/queues/${queue}/receive`, options))
    .messages
}

async function counts(queue: string): Promise<{ visible: number; inFlight: number; delayed: number }> {
  type Queue = { counts: { visible: number; inFlight: number; delayed: number } }
  return (await stack().client.get<Queue>(`/v1/queues/${queue}`)).counts
}

test('a received message is hidden until its timeout, comes back, and is gone once acknowledged', async () => {
  const { client, connection } = stack()
  await client.put('/v1/queues/work')
  await client.post('/v1/queues/work/messages', { body: 'task' })
  const [first] = await receive('work', { visibilityTimeoutSeconds: 600 })
  expect(first).toMatchObject({ body: 'task', receiveCount: 1 })
  expect(await receive('work')).toEqual([])
  expect(await counts('work')).toEqual({ visible: 0, inFlight: 1, delayed: 0 })
  await moveRedisTime(connection, 600_000)
  const [again] = await receive('work', { waitSeconds: 5 })
  expect(again).toMatchObject({ messageId: first?.messageId, receiveCount: 2 })
  const receiptHandles = [again?.receiptHandle ?? '']
  expect(await client.post('/v1/queues/work/ack', { receiptHandles })).toEqual({ results: [{ ok: true }] })
  expect(await counts('work')).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
})

test('/visibility gives a message back at once or keeps it longer', async () => {
  const { client } = stack()
  await client.put('/v1/queues/early')
  await client.post('/v1/queues/early/messages', { body: 'task' })
  const [message] = await receive('early')
  const receiptHandles = [message?.receiptHandle ?? '']
  const change = (visibilityTimeoutSeconds: number) =>
    client.post('/v1/queues/early/visibility', { receiptHandles, visibilityTimeoutSeconds })
  expect(await change(60)).toEqual({ results: [{ ok: true }] })
  expect(await receive('early')).toEqual([])
  await change(0)
  expect(await receive('early')).toHaveLength(1)
})

test('a long poll ends with the message that arrives meanwhile', async () => {
  const { client } = stack()
  await client.put('/v1/queues/polled')
  const took = startFairTimer(stack().api.pid, stack().redis.pid())
  const polling = receive('polled', { waitSeconds: 20 })
  await client.post('/v1/queues/polled/messages', { body: 'at last' })
  expect((await polling).map(({ body }) => body)).toEqual(['at last'])
  expect(took()).toBeLessThan(5_000)
})

test('a delayed message and one received too often go where they belong', async () => {
  const { client, connection } = stack()
  await client.put('/v1/queues/poison')
  const redrivePolicy = { deadLetterTargetArn: 'poison', maxReceiveCount: 1 }
  await client.put('/v1/queues/fragile', { redrivePolicy, visibilityTimeoutSeconds: 0 })
  await client.post('/v1/queues/fragile/messages', { body: 'later', delaySeconds: 600 })
  expect(await counts('fragile')).toEqual({ visible: 0, inFlight: 0, delayed: 1 })
  await moveRedisTime(connection, 600_000)
  expect(await receive('fragile', { waitSeconds: 5 })).toHaveLength(1)
  expect(await receive('fragile')).toEqual([])
  expect((await receive('poison', { waitSeconds: 5 })).map(({ body }) => body)).toEqual(['later'])
})

/** A queue with `count` dead letters of one subscription, whose endpoint works again. */
async function deadLetters(name: string, count: number): Promise<{ source: string; arn: string }> {
  const source = `${name}-dead`
  await stack().client.put(`/v1/queues/${source}`)
  let status = 500
  receiver().respond(`/${name}`, () => ({ status }))
  const { arn } = await subscribe(stack(), name, {
    endpoint: hook(`/${name}`),
    rawMessageDelivery: true,
    redrivePolicy: { deadLetterTargetArn: source },
    deliveryPolicy: retries(0),
  })
  for (let n = 0; n < count; n++) await publish(stack(), name, `m${n}`)
  await waitFor(async () => (await counts(source)).visible === count)
  receiver().clear()
  status = 200
  return { source, arn }
}

const task = (id: string) => stack().client.get<Task>(`/v1/redrives/${id}`)
const ended = (id: string) =>
  waitFor(async () => ((await task(id)).status === 'completed' ? task(id) : undefined))

test('a redrive shows what it would move, then brings each message back to its subscription', async () => {
  const { client } = stack()
  const { source, arn } = await deadLetters('back', 5)
  const dry = await client.post('/v1/redrives', { source, dryRun: true })
  expect(dry).toEqual({
    matched: 5,
    withoutOrigin: 0,
    bySubscription: { [arn]: 5 },
    byStatusCode: { 500: 5 },
  })
  expect(await counts(source)).toMatchObject({ visible: 5 })
  const { id } = await client.post<Task>('/v1/redrives', { source })
  expect(await ended(id)).toMatchObject({ matched: 5, moved: 5, skipped: 0 })
  const requests = await receiver().waitForRequests(5, '/back')
  expect(requests.map(({ text }) => text).sort()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
  expect(await counts(source)).toMatchObject({ visible: 0 })
})

test('a filtered redrive to another queue leaves the rest', async () => {
  const { client } = stack()
  const { source } = await deadLetters('aside', 3)
  await client.put('/v1/queues/aside-other')
  const { messages } = await client.get<{ messages: { messageId: string }[] }>(
    `/v1/queues/${source}/messages`,
  )
  const messageIds = messages.slice(0, 2).map(({ messageId }) => messageId)
  const filter = { messageIds }
  const { id } = await client.post<Task>('/v1/redrives', { source, destination: 'aside-other', filter })
  expect(await ended(id)).toMatchObject({ moved: 2, skipped: 0 })
  expect([(await counts(source)).visible, (await counts('aside-other')).visible]).toEqual([1, 2])
  expect(receiver().requestsTo('/aside')).toEqual([])
})

test('messages whose subscription is gone stay and count as skipped', async () => {
  const { client } = stack()
  const { source, arn } = await deadLetters('orphans', 2)
  await client.delete(`/v1/subscriptions/${encodeURIComponent(arn)}`)
  const { id } = await client.post<Task>('/v1/redrives', { source })
  expect(await ended(id)).toMatchObject({ moved: 0, skipped: 2 })
  expect(await counts(source)).toMatchObject({ visible: 2 })
})

test('a redrive keeps to its rate, can be paused, resumed, hurried and canceled, and is alone on its queue', async () => {
  const { client } = stack()
  const { source } = await deadLetters('slow', 30)
  const startedAt = steadyNow()
  const { id } = await client.post<Task>('/v1/redrives', { source, maxMessagesPerSecond: 5 })
  const second = await client.call<ErrorBody>('POST', '/v1/redrives', { body: { source } })
  expect([second.status, second.body.error.code]).toEqual([409, 'redrive_active'])
  const arrived = await receiver().waitForRequests(6, '/slow')
  const tookMs = (arrived.at(5)?.at ?? 0) - startedAt
  expect(tookMs).toBeGreaterThanOrEqual(500)
  expect((await client.post<Task>(`/v1/redrives/${id}/pause`)).status).toBe('paused')
  const { moved } = await waitFor(async () => {
    const [before, after] = [await task(id), await task(id)]
    return before.moved === after.moved ? after : undefined
  })
  expect(moved).toBeLessThan(30)
  expect((await client.post<Task>(`/v1/redrives/${id}/resume`)).status).toBe('running')
  await waitFor(async () => (await task(id)).moved > moved)
  await client.patch(`/v1/redrives/${id}`, { maxMessagesPerSecond: 1 })
  expect((await client.post<Task>(`/v1/redrives/${id}/cancel`)).status).toMatch(/^cancel(ing|ed)$/)
  const canceled = await waitFor(async () => {
    const now = await task(id)
    return now.status === 'canceled' ? now : undefined
  })
  expect((await counts(source)).visible).toBe(30 - canceled.moved)
  const rest = await client.post<Task>('/v1/redrives', { source })
  await ended(rest.id)
  await receiver().waitForRequests(30, '/slow')
  expect(
    new Set(
      receiver()
        .requestsTo('/slow')
        .map(({ text }) => text),
    ).size,
  ).toBe(30)
  expect(receiver().requestsTo('/slow')).toHaveLength(30)
})
