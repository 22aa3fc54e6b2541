/** Redis behind a bad network: slow, silent, or with a failover to another server at the same address. */
import { setTimeout as delay } from 'node:timers/promises'
import { startRedis, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, type FaultName, LONG } from '../../harness/ledgers/fault-rows.ts'
import { type Account, Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const PER_SECOND = LONG ? 30 : 12
const FAULT_MS = LONG ? 30_000 : 5_000
const LATE_MS = 500
const REFUSED_WITHIN_MS = 2_000
/** With LATE_MS, two thirds of the time after which a command to Redis fails. */
const SLOW_WRITE_MS = 500

const stack = useStack({
  workers: 2,
  redrive: true,
  proxied: 'all',
  redis: { appendfsync: 'always' },
  env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' },
})
const receiver = useReceiver()

async function openLedger(topic: FaultName): Promise<Ledger> {
  receiver().respond(`/${topic}/flaky`, ({ attempt }) => ({ status: attempt < 3 ? 503 : 200 }))
  return Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic,
    subscriptions: {
      [`/${topic}/quick`]: {},
      [`/${topic}/flaky`]: { deliveryPolicy: retries(20, { numNoDelayRetries: 20 }) },
      [`/${topic}/throttled`]: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 100 } } },
    },
  })
}

interface QueueView {
  counts: { visible: number }
}

interface Fault {
  begin(): Promise<void>
  end(): Promise<void>
}

/** Publishes before, during and after a fault. Resolves when everything has ended. */
async function through(
  name: FaultName,
  { begin, end }: Fault,
): Promise<{ ledger: Ledger; account: Account }> {
  const row = beginFault(name)
  const ledger = await openLedger(name)
  const count = ((FAULT_MS + 4_000) / 1_000) * PER_SECOND
  const publishing = ledger.publishAtRate({ count, perSecond: PER_SECOND })
  await waitFor(() => ledger.count('accepted') >= PER_SECOND)
  await begin()
  await untilPassed(FAULT_MS)
  const endedAt = performance.now()
  await end()
  const recoverySeconds = await ledger.recovered(endedAt)
  await publishing
  const account = await ledger.whenSettled({ timeoutMs: 60_000 })
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, expired: 0, discarded: 0, deadLettered: 0 })
  for (const service of stack().services()) await waitFor(() => service.isReady())
  return { ledger, account }
}

const slowestRefusal = (ledger: Ledger) => Math.max(0, ...ledger.failures.map(({ tookMs }) => tookMs))

/**
 * Writes to Redis itself, past the proxy, again and again. Returns how long the slowest write took: the disk or the
 * processors may be busy, and then Redis answers later than the proxy makes it.
 */
function watchWrites(): { end(): Promise<number> } {
  const { connection } = stack()
  let slowest = 0
  let ended = false
  const writing = (async () => {
    while (!ended) {
      const startedAt = performance.now()
      await connection.set('probe', 'x')
      slowest = Math.max(slowest, performance.now() - startedAt)
      await delay(20)
    }
    await connection.del('probe')
  })()
  const end = async () => {
    ended = true
    await writing
    return slowest
  }
  return { end }
}

test(
  'a Redis that answers half a second late stops nothing',
  async () => {
    const { proxy } = stack()
    const writes = watchWrites()
    let slowestMs = 0
    const { ledger, account } = await through('slow-redis', {
      begin: async () => proxy.delayReplies(LATE_MS),
      end: async () => proxy.delayReplies(0),
    }).finally(async () => {
      slowestMs = await writes.end()
    })
    if (slowestMs < SLOW_WRITE_MS) expect(ledger.ownFailures()).toEqual([])
    else console.info(`a write to Redis itself took ${Math.round(slowestMs)} ms, so refusals are not judged`)
    expect(account.delivered).toBe(account.owed)
  },
  FAULT_MS + 90_000,
)

test.each([
  { tripMs: 100, repliesMs: 50, rate: 50, backlog: 100 },
  { tripMs: 500, repliesMs: 500, rate: 20, backlog: 40 },
])(
  'behind a Redis $tripMs ms away, a backlog and later messages arrive at once, each of them once',
  async ({ tripMs, repliesMs, rate, backlog }) => {
    const { proxy, workers, connection, client } = stack()
    const topic = `distant-${tripMs}`
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic,
      subscriptions: {
        [`/${topic}/quick`]: {},
        [`/${topic}/throttled`]: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: rate } } },
      },
    })
    const { arn } = await client.put<{ arn: string }>(`/v1/queues/${topic}`)
    await client.post(`/v1/topics/${topic}/subscriptions`, { endpoint: arn, rawMessageDelivery: true })
    for (const worker of workers) worker.signal('SIGSTOP')
    // One after the other, so that each is a job of its own.
    for (let n = 0; n < backlog; n++) await ledger.publish(`backlog-${n}`)
    expect(await connection.llen('ft:{dispatch-0}:dispatch-0:wait')).toBe(backlog)
    proxy.delayReplies(repliesMs, tripMs - repliesMs)
    for (const worker of workers) worker.signal('SIGCONT')
    // Messages come as long as the backlog waits, so the dispatch queue is never empty.
    const haveArrived = () => ledger.arrivals().size >= 2 * backlog
    await ledger.publishAtRate({ count: 20, perSecond: rate / 2, until: haveArrived })
    await waitFor(() => ledger.missing().length === 0, { what: 'all messages to arrive', timeoutMs: 30_000 })
    const queued = async () => (await client.get<QueueView>(`/v1/queues/${topic}`)).counts.visible
    const haveQueued = async () => (await queued()) >= ledger.count('accepted')
    await waitFor(haveQueued, { what: 'all messages to be queued', intervalMs: 200 })
    proxy.delayReplies(0)
    const { duplicates, owed } = await ledger.whenSettled()
    // A busy machine may answer a publish with 503 and store it after all. It then goes to the queue too.
    const stored = owed / ledger.subscriptions.length
    await waitFor(async () => (await queued()) >= stored, { what: 'messages of unknown fate to be queued' })
    expect([duplicates, await queued()]).toEqual([0, stored])
    expect(await connection.keys('*isolated:*')).toEqual([])
  },
  90_000,
)

test(
  'a Redis that accepts connections and never answers is taken for away',
  async () => {
    const { proxy } = stack()
    const { ledger } = await through('mute-redis', {
      begin: async () => proxy.mute(),
      end: async () => proxy.speak(),
    })
    expect(ledger.failures.length).toBeGreaterThan(PER_SECOND)
    expect(ledger.failures.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([])
    expect(slowestRefusal(ledger)).toBeLessThanOrEqual(REFUSED_WITHIN_MS)
  },
  FAULT_MS + 90_000,
)

test(
  'a Redis that became a replica refuses, and the new master is found at the same address',
  async () => {
    const { redis, proxy, connection } = stack()
    const successor = await startRedis({
      appendfsync: 'always',
      args: ['--replicaof', '127.0.0.1', String(redis.port)],
    })
    try {
      const linked = async () => (await connection.info('replication')).includes('state=online')
      await waitFor(linked, { what: 'the replica to follow', timeoutMs: 20_000 })
      const { ledger, account } = await through('read-only', {
        begin: async () => {
          await connection.call('FAILOVER', 'TO', '127.0.0.1', String(successor.port))
          const isReplica = async () => (await connection.info('replication')).includes('role:slave')
          await waitFor(isReplica, { what: 'the master to have become a replica' })
        },
        end: async () => proxy.leadTo(successor.port),
      })
      expect(ledger.failures.length).toBeGreaterThan(PER_SECOND)
      expect(ledger.failures.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([])
      expect(account.accepted).toBeGreaterThan(0)
    } finally {
      for (const service of stack().services()) await service.stop()
      await successor.stop()
    }
  },
  FAULT_MS + 90_000,
)
