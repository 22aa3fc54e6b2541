/**
 * From one Redis to a cluster with `fantail move`, with work of every kind: paused, throttled and failing lanes,
 * waiting jobs and one of a killed worker, logs of FIFO topics, messages in flight from queues. On the cluster all of
 * it continues, each delivery in one place.
 */
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { retries } from '../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../harness/redis/redis-time.ts'
import { type RedisPlace, startPlace } from '../harness/services/redis-place.ts'
import { runFantail } from '../harness/services/run-fantail.ts'
import { type Stack, startStack } from '../harness/services/stack.ts'

const MESSAGES = 120
/** Longer than every lease, so that other workers claim the deliveries of killed workers. */
const LEASES_END_MS = 30_000

const receiver = useReceiver()
const stacks: Stack[] = []
afterAll(() => Promise.all(stacks.map((stack) => stack.stop())), 60_000)

async function start(place?: RedisPlace): Promise<Stack> {
  const stack = await startStack({ place: place ?? 'single', workers: 2, redrive: true })
  stacks.push(stack)
  return stack
}

interface Received {
  messages: { body: string; receiptHandle: string }[]
}

const move = (from: string, to: string) => runFantail(['move', '--from', from, '--to', to])

test('everything that waits moves to a cluster and ends there in one place', async () => {
  let stack = await start()
  // The ledger always uses the present stack.
  const current = new Proxy({} as Stack, { get: (_, name) => Reflect.get(stack, name) })
  const down = Promise.withResolvers<void>()
  const dead = ({ text }: { text: string }) => Number(text.slice(1)) % 10 === 0
  let isUp = false
  receiver().respond('/flaky', (request) => ({ status: !isUp ? 503 : dead(request) ? 404 : 200 }))
  receiver().respond('/hung', () => (isUp ? {} : { until: down.promise }))
  const ledger = await Ledger.open({
    stack: current,
    receiver: receiver(),
    topic: 'moving',
    subscriptions: {
      '/paused': {},
      '/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } },
      '/flaky': { deliveryPolicy: retries(50, { numNoDelayRetries: 10 }) },
      '/hung': {},
    },
    deadLetterQueue: 'moving-dead',
  })
  const [paused] = ledger.subscriptions
  await stack.client.post(`/v1/subscriptions/${paused?.id}/pause`)
  await ledger.publishAtRate({ count: MESSAGES, perSecond: 400 })
  await stack.client.put('/v1/queues/pulled')
  const bodies = Array.from({ length: 20 }, (_, i) => `q${i}`)
  await stack.client.post('/v1/queues/pulled/messages', {
    messages: bodies.slice(0, 10).map((body) => ({ body })),
  })
  await stack.client.post('/v1/queues/pulled/messages', {
    messages: bodies.slice(10).map((body) => ({ body })),
  })
  const inFlight = await stack.client.post<Received>('/v1/queues/pulled/receive', {
    maxMessages: 10,
    visibilityTimeoutSeconds: 600,
  })
  await waitFor(async () => (await ledger.waiting()) > MESSAGES, { what: 'a backlog' })
  await Promise.all(stack.workers.map((worker) => worker.kill()))

  // No worker runs any more, so these jobs wait.
  await ledger.publishAtRate({ count: MESSAGES, perSecond: 400, prefix: 'j' })
  const endpoint = `${receiver().url}/ordered`
  await stack.client.put('/v1/topics/ordered.fifo', { contentBasedDeduplication: true })
  await stack.client.post('/v1/topics/ordered.fifo/subscriptions', { endpoint, rawMessageDelivery: true })
  for (let n = 0; n < 30; n++)
    await stack.client.post('/v1/topics/ordered.fifo/messages', { message: `f${n}`, groupId: `g${n % 3}` })
  expect(await move(stack.redis.url, 'unused:1')).toMatchObject({ code: 1 })
  await Promise.all(stack.services().map((service) => service.kill()))

  const cluster = await startPlace('cluster')
  const { stdout } = await move(stack.redis.url, String(cluster.env.REDIS_CLUSTER_NODES))
  console.info(stdout)
  const counts = [...stdout.matchAll(/: (\d+) before, (\d+) after/g)].map(([, before, after]) => [
    before,
    after,
  ])
  expect(counts).toHaveLength(5)
  for (const [before, after] of counts) {
    expect(after).toBe(before)
    expect(Number(after)).toBeGreaterThan(0)
  }
  expect(await stack.connection.dbsize()).toBeGreaterThan(0)

  isUp = true
  down.resolve()
  stack = await start(cluster)
  await stack.client.post(`/v1/subscriptions/${paused?.id}/resume`)
  await moveRedisTime(stack.connection, LEASES_END_MS)
  const account = await ledger.whenSettled({ timeoutMs: 60_000 })
  expect(account).toMatchObject({ accepted: 2 * MESSAGES, lost: 0, waiting: 0, discarded: 0, expired: 0 })
  expect(account.delivered + account.deadLettered).toBe(account.owed)
  expect(account.deadLettered).toBeGreaterThan(0)
  const ordered = () => [
    ...new Set(
      receiver()
        .requestsTo('/ordered')
        .map(({ text }) => text),
    ),
  ]
  await waitFor(() => ordered().length === 30, { what: 'every group' })
  for (const group of [0, 1, 2]) {
    const texts = ordered().filter((text) => Number(text.slice(1)) % 3 === group)
    expect(texts).toEqual(Array.from({ length: 10 }, (_, i) => `f${3 * i + group}`))
  }
  // Handles from before the move are still valid.
  const receiptHandles = inFlight.messages.map(({ receiptHandle }) => receiptHandle)
  const { results } = await stack.client.post<{ results: { ok: boolean }[] }>('/v1/queues/pulled/ack', {
    receiptHandles,
  })
  expect(results.every(({ ok }) => ok)).toBe(true)
  const left = new Set<string>()
  await waitFor(async () => {
    const { messages } = await stack.client.post<Received>('/v1/queues/pulled/receive', { maxMessages: 10 })
    for (const { body } of messages) left.add(body)
    return left.size === 10
  })
  for (const { body } of inFlight.messages) expect(left.has(body)).toBe(false)
}, 180_000)

provesCommands('tests/scaling/move-to-cluster.test.ts')
