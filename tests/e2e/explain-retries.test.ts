/** One call answers why each delivery of a message came when it did, why it waits, or why it ended. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

interface Row {
  subscriptionId: string
  state: string
  attempts: number
  attemptsMax: number
  lastStatusCode: number | null
  nextAttemptAt: string | null
  delayMs: number | null
  cause: string | null
  endedAt: string | null
}

/** The row of a message with one subscription; undefined before its dispatch. */
async function rowNow(messageId: string): Promise<Row | undefined> {
  const path = `/v1/messages/${messageId}/deliveries`
  const { status, body } = await stack().client.call<{ deliveries: Row[] }>('GET', path)
  return status === 200 ? body.deliveries[0] : undefined
}

/** The same row, as soon as it satisfies `isThere`. */
function rowOf(messageId: string, isThere: (row: Row) => boolean): Promise<Row> {
  return waitFor(async () => {
    const row = await rowNow(messageId)
    return row && isThere(row) ? row : undefined
  })
}

const isDelivered = ({ state }: Row) => state === 'delivered'
const isWaiting = ({ state }: Row) => state === 'waiting'

test('a delivery that succeeds at the first go shows its status code, and nothing delayed it', async () => {
  receiver().respond('/accepted', { status: 202 })
  for (const [topic, status] of [
    ['accepted', 202],
    ['plain', 200],
  ] as const) {
    await subscribe(stack(), topic, { endpoint: hook(`/${topic}`) })
    const row = await rowOf(await publish(stack(), topic, 'x'), isDelivered)
    const nothing = { delayMs: null, cause: null, nextAttemptAt: null }
    expect(row.endedAt).not.toBeNull()
    expect(row).toMatchObject({ attempts: 1, attemptsMax: 4, lastStatusCode: status, ...nothing })
  }
})

test('a retried delivery says what was decided, while it waits and when it has been delivered', async () => {
  receiver().respond('/busy', (_request, n) =>
    n === 1 ? { status: 503, headers: { 'retry-after': '7' } } : { status: 204 },
  )
  const { id } = await subscribe(stack(), 'busy', {
    endpoint: hook('/busy'),
    deliveryPolicy: retries(2, { minDelayTarget: 1, maxDelayTarget: 7 }),
  })
  const messageId = await publish(stack(), 'busy', 'x')
  const decided = { attempts: 1, attemptsMax: 3, lastStatusCode: 503, delayMs: 7_000, cause: 'retryAfter' }
  const waiting = await rowOf(messageId, isWaiting)
  expect(waiting).toMatchObject({ ...decided, endedAt: null })
  expect(Date.parse(waiting.nextAttemptAt ?? '')).toBeGreaterThan(Date.now())
  const line = await waitFor(() =>
    stack()
      .worker(0)
      .logLines()
      .find((logged) => logged.msg === 'delivery.attempted' && logged.messageId === messageId),
  )
  expect(line).toMatchObject({ subscriptionId: id, decision: 'retry', delayMs: 7_000, cause: 'retryAfter' })
  expect(await rowOf(messageId, isDelivered)).toMatchObject({
    ...decided,
    attempts: 2,
    lastStatusCode: 204,
    nextAttemptAt: null,
  })
})

test('a throttled delivery says so, and how long after publishing it came', async () => {
  await subscribe(stack(), 'slowly', {
    endpoint: hook('/slowly'),
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1 } },
  })
  const messages = Array.from({ length: 10 }, (_, n) => ({ message: `${n}` }))
  const { results } = await stack().client.post<{ results: { messageId: string }[] }>(
    '/v1/topics/slowly/messages',
    { messages },
  )
  // Rows of the same millisecond may have any order.
  const rows = async (isThere: (row: Row) => boolean, n: number) =>
    waitFor(async () => {
      const all = await Promise.all(results.map(({ messageId }) => rowNow(messageId)))
      const found = all.filter((row) => row !== undefined).filter(isThere)
      return found.length >= n ? found : undefined
    })
  for (const row of await rows(isWaiting, 1))
    expect(row).toMatchObject({ cause: 'throttle', delayMs: null, attempts: 0 })
  const ended = await rows(isDelivered, 3)
  for (const row of ended) expect(row).toMatchObject({ cause: 'throttle', attempts: 1, lastStatusCode: 200 })
  // Three requests at a throttle of one a second, each at most a quarter of a second early.
  expect(Math.max(...ended.map(({ delayMs }) => delayMs ?? 0))).toBeGreaterThan(1_500)
})

test('a delivery under an open circuit says so, and when the next probe goes', async () => {
  receiver().respond('/broken', { status: 500 })
  await subscribe(stack(), 'broken', {
    endpoint: hook('/broken'),
    circuitBreaker: { failures: 1, probeSeconds: 600 },
    deliveryPolicy: retries(3),
  })
  const first = await publish(stack(), 'broken', 'opens it')
  const isWaiting = (row: Row) => row.state === 'waiting' && row.cause === 'circuitOpen'
  const expected = { lastStatusCode: 500, attempts: 1, delayMs: 600_000 }
  const row = await rowOf(first, isWaiting)
  expect(row).toMatchObject(expected)
  expect(Date.parse(row.nextAttemptAt ?? '')).toBeGreaterThan(Date.now() + 60_000)
  expect(await rowOf(await publish(stack(), 'broken', 'waits'), isWaiting)).toMatchObject({ attempts: 0 })
})

test.each(['resting', 'resting.fifo'])('a delivery of %s says that a pause delayed it', async (topic) => {
  const { client } = stack()
  const { id } = await subscribe(stack(), topic, { endpoint: hook('/resting') })
  await client.post(`/v1/subscriptions/${id}/pause`)
  const fifo = topic.endsWith('.fifo') ? { groupId: 'g', deduplicationId: 'd' } : {}
  const message = { message: 'x', ...fifo }
  const { messageId } = await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, message)
  const row = await rowOf(messageId, isWaiting)
  expect(row).toMatchObject({ cause: 'paused', delayMs: null, nextAttemptAt: null })
  await client.post(`/v1/subscriptions/${id}/resume`)
  const ended = await rowOf(messageId, isDelivered)
  expect(ended).toMatchObject({ cause: 'paused', attempts: 1, lastStatusCode: 200 })
})

test.each([
  { topic: 'refused', status: 404, numRetries: 3, cause: 'permanent' },
  { topic: 'failing', status: 500, numRetries: 0, cause: 'retriesExhausted' },
])('a dead letter of the topic $topic says $cause', async ({ topic, status, numRetries, cause }) => {
  await stack().client.put('/v1/queues/dead')
  receiver().respond(`/${topic}`, { status })
  await subscribe(stack(), topic, {
    endpoint: hook(`/${topic}`),
    deliveryPolicy: retries(numRetries),
    redrivePolicy: { deadLetterTargetArn: 'dead' },
  })
  const row = await rowOf(await publish(stack(), topic, 'x'), ({ state }) => state === 'deadLettered')
  expect(row).toMatchObject({ attempts: 1, lastStatusCode: status, delayMs: null, cause })
})
