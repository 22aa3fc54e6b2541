/** Failing deliveries: the retry curve, Retry-After, dead letters, expiry. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, createSelfSigned, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lane, publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../harness/redis/redis-time.ts'
import { type Stalls, watchStalls } from '../harness/runs/stalls.ts'
import { useStack } from '../harness/services/stack.ts'

const authority = createAuthority()
const folder = await mkdtemp(join(tmpdir(), 'fantail-ca-'))
await writeFile(join(folder, 'ca.pem'), authority.cert)
afterAll(() => rm(folder, { recursive: true }))

const stack = useStack({ env: { FANTAIL_RETRY_JITTER: '0', NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } })
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

/** An earlier attempt would break the rule. A later one only shows that the machine is busy. */
const EARLY_MS = 20
const LATE_MS = 900

/** Checks the gaps between attempts at a path. Stalls of the machine between two attempts do not count as delay. */
function expectDelays(path: string, seconds: number[], stalls: Stalls): void {
  const times = receiver()
    .requestsTo(path)
    .map(({ at }) => at)
  expect(times).toHaveLength(seconds.length + 1)
  seconds.forEach((nominal, i) => {
    const [from, to] = [times[i] ?? 0, times[i + 1] ?? 0]
    expect(to - from).toBeGreaterThanOrEqual(nominal * 1_000 - EARLY_MS)
    expect(to - from - stalls.between(from, to)).toBeLessThanOrEqual(nominal * 1_000 + LATE_MS)
  })
}

const watch = () => watchStalls([stack().redis.pid(), stack().worker(0).pid])

test('attempts follow the curve that the preview shows, then the delivery is dead', async () => {
  const { client } = stack()
  const phases = {
    numNoDelayRetries: 1,
    numMinDelayRetries: 1,
    numMaxDelayRetries: 1,
    backoffFunction: 'linear',
  }
  const deliveryPolicy = retries(5, { ...phases, minDelayTarget: 1, maxDelayTarget: 2 })
  type Preview = { retries: { delaySeconds: number }[]; totalSeconds: number }
  const preview = await client.post<Preview>('/v1/delivery-policies/preview', { deliveryPolicy })
  await client.put('/v1/queues/curve-dead')
  receiver().respond('/curve', { status: 500 })
  await subscribe(stack(), 'curve', {
    endpoint: hook('/curve'),
    deliveryPolicy,
    redrivePolicy: { deadLetterTargetArn: 'curve-dead' },
  })
  const stalls = watch()
  await publish(stack(), 'curve', 'x')
  const letter = await deadLetterIn('curve-dead')
  expect(letter).toMatchObject({ reason: 'retriesExhausted', statusCode: 500, attempts: 6 })
  expectDelays(
    '/curve',
    preview.retries.map(({ delaySeconds }) => delaySeconds),
    stalls,
  )
})

test('Retry-After lengthens a delay, but not beyond the longest of the policy', async () => {
  const deliveryPolicy = retries(2, { minDelayTarget: 1, maxDelayTarget: 2 })
  receiver().respond('/after', (_, n) => {
    if (n === 1) return { status: 503, headers: { 'retry-after': '2' } }
    return n === 2 ? { status: 429, headers: { 'retry-after': '3600' } } : {}
  })
  await subscribe(stack(), 'after', { endpoint: hook('/after'), deliveryPolicy })
  const stalls = watch()
  await publish(stack(), 'after', 'x')
  await receiver().waitForRequests(3, '/after')
  expectDelays('/after', [2, 2], stalls)
})

test('a client error is dead at once, with the body that SNS would have put into the queue', async () => {
  const { client } = stack()
  await client.put('/v1/queues/refused-dead')
  receiver().respond('/refused', { status: 403 })
  const { arn, topicArn } = await subscribe(stack(), 'refused', {
    endpoint: hook('/refused'),
    redrivePolicy: { deadLetterTargetArn: 'refused-dead' },
  })
  const messageId = await publish(stack(), 'refused', 'no entry')
  const letter = await deadLetterIn('refused-dead')
  expect(letter).toMatchObject({
    reason: 'permanent',
    statusCode: 403,
    attempts: 1,
    subscriptionArn: arn,
    topicArn,
  })
  const { messages } = await client.get<{ messages: { body: string }[] }>('/v1/queues/refused-dead/messages')
  expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({ MessageId: messageId, Message: 'no entry' })
  const counts = await client.get('/v1/queues/refused-dead/dead-letters')
  expect(counts).toEqual({
    byReason: { permanent: 1 },
    byStatusCode: { 403: 1 },
    bySubscription: { [arn]: 1 },
  })
  const queue = await client.get<{ deadLetterSources: string[] }>('/v1/queues/refused-dead')
  expect(queue.deadLetterSources).toEqual([arn])
  expect(receiver().requestsTo('/refused')).toHaveLength(1)
})

test('https is spoken to those whose certificate is good', async () => {
  const good = await startReceiver({ tls: authority.issue(['127.0.0.1']) })
  const bad = await startReceiver({ tls: createSelfSigned(['127.0.0.1']) })
  try {
    const deliveryPolicy = retries(1, { minDelayTarget: 600, maxDelayTarget: 600 })
    await subscribe(stack(), 'secure', { endpoint: good.url })
    const refused = await subscribe(stack(), 'secure', { endpoint: bad.url, deliveryPolicy })
    await publish(stack(), 'secure', 'x')
    await good.waitForRequests(1)
    // The lane has its delivery before the note of the attempt.
    const noted = async () => {
      const { waiting, lastFailure } = await lane(stack(), refused)
      return waiting === 1 ? lastFailure : undefined
    }
    expect((await waitFor(noted)).error).toBe('tls')
    expect(bad.requests).toEqual([])
  } finally {
    await Promise.all([good.close(), bad.close()])
  }
})

test('an expired message goes to the dead-letter queue, or is counted', async () => {
  const { client, connection } = stack()
  await client.put('/v1/queues/expired-dead')
  const policy = { redrivePolicy: { deadLetterTargetArn: 'expired-dead' } }
  const kept = await subscribe(
    stack(),
    'short',
    { endpoint: hook('/kept'), ...policy },
    { retentionSeconds: 60 },
  )
  const counted = await subscribe(stack(), 'short', { endpoint: hook('/counted'), redrivePolicy: null })
  for (const { id } of [kept, counted]) await client.post(`/v1/subscriptions/${id}/pause`)
  const messageId = await publish(stack(), 'short', 'too late')
  type Message = { counts?: { waiting: number; expired: number; deadLettered: number } }
  const counts = async () => (await client.call<Message>('GET', `/v1/messages/${messageId}`)).body.counts
  // Without the log's entry, which a worker writes after it has parked, the message would never be found.
  await waitFor(async () => (await counts())?.waiting === 2, {
    what: 'both deliveries in lanes and in the log',
  })
  await moveRedisTime(connection, 61_000)
  // The sweep runs once a minute, and when a worker starts that may take over the sweep.
  await stack().worker(0).kill()
  await connection.del('ft:{leader}:retention-sweep')
  await stack().worker(0).start()
  expect(await deadLetterIn('expired-dead')).toMatchObject({
    reason: 'expired',
    attempts: 0,
    statusCode: null,
  })
  await waitFor(async () => (await lane(stack(), counted)).waiting === 0)
  await waitFor(async () => {
    const ended = await counts()
    return ended?.expired === 1 && ended.deadLettered === 1
  })
  expect([...receiver().requestsTo('/kept'), ...receiver().requestsTo('/counted')]).toEqual([])
})

async function deadLetterIn(queue: string): Promise<Record<string, unknown>> {
  type Page = { messages: { deadLetter: Record<string, unknown> }[] }
  const path = `/v1/queues/${queue}/messages`
  return waitFor(async () => (await stack().client.get<Page>(path)).messages[0]?.deadLetter, {
    what: 'a dead letter',
  })
}
