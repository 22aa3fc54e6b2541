/** Push consumers while workers die and freeze, and Redis is down: every message is pushed, and none is lost. */
import { waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const stack = useStack({ workers: 2, redis: { appendfsync: 'always' } })
const receiver = useReceiver()
const TAKEN_OVER_WITHIN_MS = 20_000

beforeEach(async () => {
  for (const worker of stack().workers) if (!worker.running) await worker.start()
})
afterEach(() => {
  for (const worker of stack().workers) worker.signal('SIGCONT')
})

interface Counts {
  counts: { visible: number; inFlight: number; delayed: number }
}
const counts = async (queue: string) => (await stack().client.get<Counts>(`/v1/queues/${queue}`)).counts
const send = (queue: string, bodies: string[]) =>
  stack().client.post(`/v1/queues/${queue}/messages`, { messages: bodies.map((body) => ({ body })) })
async function consume(queue: string, set: object): Promise<void> {
  await stack().client.put(`/v1/queues/${queue}`, { visibilityTimeoutSeconds: 1 })
  const url = `${receiver().url}/${queue}`
  await stack().client.put(`/v1/queues/${queue}/consumers/hook`, { url, ...set })
}
const bodiesOf = (text: string) =>
  (JSON.parse(text) as { Records: { body: string }[] }).Records.map(({ body }) => body)
const pushed = (queue: string) =>
  receiver()
    .requestsTo(`/${queue}`)
    .map(({ text }) => bodiesOf(text))
const whenEmpty = (queue: string) =>
  waitFor(
    async () => {
      const { visible, inFlight, delayed } = await counts(queue)
      return visible + inFlight + delayed === 0
    },
    { what: `${queue} to be empty`, timeoutMs: 40_000, intervalMs: 50 },
  )

/** Holds all requests of the queue until the test releases them. */
function openRequests(queue: string, count: number): (() => void)[] {
  const gates = Array.from({ length: count }, () => Promise.withResolvers<void>())
  receiver().respond(`/${queue}`, (_, n) => ({ until: gates[n - 1]?.promise ?? Promise.resolve() }))
  return gates.map(({ resolve }) => resolve)
}

test('the lease of a worker that is killed in mid-batch is taken over, and its batch comes again', async () => {
  const [doomed, successor] = [stack().worker(0), stack().worker(1)]
  await successor.kill()
  await consume('killed', { batchSize: 1, timeoutSeconds: 60 })
  openRequests('killed', 1)
  await send('killed', ['a', 'b'])
  await receiver().waitForRequests(1, '/killed')
  await successor.start()
  await doomed.kill()
  const from = performance.now()
  await receiver().waitForRequests(2, '/killed', TAKEN_OVER_WITHIN_MS)
  expect(performance.now() - from).toBeLessThan(TAKEN_OVER_WITHIN_MS)
  expect(pushed('killed')).toEqual([['a'], ['b']])
  await waitFor(async () => (await counts('killed')).inFlight === 1)
  await moveRedisTime(stack().connection, 66_000)
  await send('killed', ['c'])
  await whenEmpty('killed')
  expect(pushed('killed').flat().sort()).toEqual(['a', 'a', 'b', 'c'])
}, 60_000)

test('workers that are killed again and again lose nothing', async () => {
  const row = beginFault('push-consumers')
  await consume('stormy', { batchSize: 5, concurrency: 8, timeoutSeconds: 1 })
  receiver().respond('/stormy', { delayMs: 30 })
  const sent = Array.from({ length: 600 }, (_, i) => `${i}`)
  for (let at = 0; at < sent.length; at += 100) await send('stormy', sent.slice(at, at + 100))
  for (let kill = 0; kill < 4; kill++) {
    const before = pushed('stormy').length
    await waitFor(
      () => pushed('stormy').length > before + 10 || pushed('stormy').flat().length >= sent.length,
    )
    await stack()
      .worker(kill % 2)
      .restart()
  }
  await whenEmpty('stormy')
  const all = pushed('stormy').flat()
  const lost = sent.length - new Set(all).size
  row.report({
    messages: sent.length,
    lost,
    duplicates: all.length + lost - sent.length,
    recoverySeconds: null,
  })
  expect(new Set(all)).toEqual(new Set(sent))
  // A killed worker's batches are repeated: at most eight each time.
  expect(all.length - sent.length).toBeLessThanOrEqual(4 * 8 * 5)
  expect(receiver().inFlightMax('/stormy')).toBeLessThanOrEqual(8)
}, 90_000)

test('a worker that was frozen does not delete what another one has received since', async () => {
  const [zombie, successor] = [stack().worker(0), stack().worker(1)]
  await successor.kill()
  await consume('frozen', { timeoutSeconds: 60 })
  const answers = openRequests('frozen', 2)
  await send('frozen', ['a'])
  await receiver().waitForRequests(1, '/frozen')
  zombie.signal('SIGSTOP')
  await moveRedisTime(stack().connection, 150_000)
  await successor.start()
  await receiver().waitForRequests(2, '/frozen')
  answers[0]?.()
  zombie.signal('SIGCONT')
  await waitFor(() =>
    zombie
      .logLines()
      .some(({ msg, queueArn }) => msg === 'push_consumer.pushed' && `${queueArn}`.endsWith('frozen')),
  )
  expect(await counts('frozen')).toMatchObject({ visible: 0, inFlight: 1 })
  answers[1]?.()
  await whenEmpty('frozen')
  expect(pushed('frozen')).toEqual([['a'], ['a']])
}, 60_000)

test('messages whose answers came while Redis was away are deleted when it is back', async () => {
  await stack().worker(1).kill()
  await consume('outage', { timeoutSeconds: 30 })
  const answers = openRequests('outage', 1)
  await send('outage', ['a', 'b'])
  await receiver().waitForRequests(1, '/outage')
  await stack().redis.kill()
  answers[0]?.()
  await waitFor(() => receiver().inFlight('/outage') === 0)
  await stack().redis.restart()
  await waitFor(async () => (await stack().client.call('GET', '/v1/queues/outage')).status === 200, {
    what: 'the API to reach Redis again',
  })
  await whenEmpty('outage')
  await send('outage', ['c'])
  await receiver().waitForRequests(2, '/outage')
  expect(pushed('outage')).toEqual([['a', 'b'], ['c']])
}, 60_000)
