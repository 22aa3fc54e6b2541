/**
 * Endpoints with every kind of misbehaviour at once, and healthy endpoints. Each delivery ends as its policy says, the
 * healthy endpoints are not delayed, and the worker's memory is bounded. Each fault by itself is tested in
 * packages/delivery/src/http/receiver-faults.test.ts. So are names that hang or change, because they need a resolver of
 * the test.
 */
import { steadyNow } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { percentile } from '../../harness/ledgers/figures.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { type BadReceivers, startBadReceivers } from '../../harness/receivers/bad-receivers.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { type Stalls, watchStalls } from '../../harness/runs/stalls.ts'
import { residentBytes } from '../../harness/services/process-figures.ts'
import { useStack } from '../../harness/services/stack.ts'

const HEALTHY_PER_SECOND = 50
const SECONDS = LONG ? 40 : 8
const BAD_PER_SECOND = 1
/** A flapping receiver works again after a second or two. */
const RETRIES = 2
const SLOWER_FACTOR = 3
const SLOWER_MS = 300
const GROWTH_BYTES_MAX = 150 * 1_048_576
const SAMPLE_MS = 100

const TIMEOUT_MS = 2_000

const stack = useStack({ workers: 1, env: { FANTAIL_ATTEMPT_TIMEOUT_MS: String(TIMEOUT_MS) } })
const receiver = useReceiver()
let bad: BadReceivers
beforeAll(async () => {
  bad = await startBadReceivers()
})
afterAll(() => bad.close())

const openHealthy = (topic: string) =>
  Ledger.open({ stack: stack(), receiver: receiver(), topic, subscriptions: { [`/${topic}`]: {} } })

test(
  'receivers that do everything wrong slow nobody, and each delivery ends as its policy says',
  async () => {
    const row = beginFault('receivers')
    const stalls = watchStalls([stack().worker(0).pid, stack().redis.pid()])
    const alone = await openHealthy('alone')
    await alone.publishAtRate({ count: 4 * HEALTHY_PER_SECOND, perSecond: HEALTHY_PER_SECOND })
    await alone.whenSettled()
    const memory = watchMemory()
    const from = steadyNow()

    const ledger = await openBad()
    const beside = await openHealthy('beside')
    const publishing = [
      ledger.publishAtRate({ count: SECONDS * BAD_PER_SECOND, perSecond: BAD_PER_SECOND, prefix: 'bad' }),
      beside.publishAtRate({ count: SECONDS * HEALTHY_PER_SECOND, perSecond: HEALTHY_PER_SECOND }),
    ]
    await Promise.all(publishing)
    const account = await ledger.whenSettled({ timeoutMs: SECONDS * 3_000 + 30_000 })
    const healthy = await beside.whenSettled()
    const grown = memory()
    const stalledMs = stalls.between(from, steadyNow())

    const [before, meanwhile] = [delaysOf(alone, '/alone', stalls), delaysOf(beside, '/beside', stalls)]
    row.report({
      messages: account.accepted + healthy.accepted,
      lost: account.lost + healthy.lost,
      duplicates: healthy.duplicates,
      recoverySeconds: null,
    })
    console.info(JSON.stringify({ grownBytes: grown, delayMs: { before, meanwhile } }))
    expect(account).toMatchObject({ lost: 0, discarded: 0, expired: 0, waiting: 0 })
    expect(healthy).toMatchObject({ lost: 0, delivered: SECONDS * HEALTHY_PER_SECOND })
    // An attempt is repeated if it takes longer than two seconds. Only a busy machine causes that.
    const outlasted = timeoutsOf(beside)
    const unexplained = outlasted.filter((at) => stalls.waited(at - TIMEOUT_MS, at) < TIMEOUT_MS / 2)
    expect(healthy.duplicates).toBeLessThanOrEqual(outlasted.length)
    expect(unexplained.length).toBeLessThan(0.01 * healthy.owed)
    if (stalledMs < TIMEOUT_MS) expect(outlasted.length).toBeLessThan(0.01 * healthy.owed)
    expect(meanwhile).toBeLessThan(before * SLOWER_FACTOR + SLOWER_MS)
    expect(grown).toBeLessThan(GROWTH_BYTES_MAX)
    await expectEnds(ledger)
  },
  SECONDS * 4_000 + 120_000,
)

function openBad(): Promise<Ledger> {
  const deliveryPolicy = retries(RETRIES)
  const settings = Object.entries(bad.endpoints).map(([name, { endpoint }]) => [
    name,
    // A flapping endpoint is tried until it works.
    { endpoint, deliveryPolicy: name === 'flaps' ? retries(20) : deliveryPolicy },
  ])
  return Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'bad',
    subscriptions: { '/among-them': {}, ...Object.fromEntries(settings) },
    deadLetterQueue: 'bad-dead',
    elsewhere: () => bad.taken,
  })
}

/** Checks where the deliveries of each bad receiver ended. */
async function expectEnds(ledger: Ledger): Promise<void> {
  const dead = await ledger.deadLetters()
  const count = SECONDS * BAD_PER_SECOND
  for (const [name, { end }] of Object.entries(bad.endpoints)) {
    const taken = new Set(bad.taken.filter((key) => key.startsWith(`${name} `))).size
    const buried = [...dead].filter((key) => key.startsWith(`${name} `)).length
    expect([name, taken, buried]).toEqual([name, ...(end === 'delivered' ? [count, 0] : [0, count])])
  }
}

/** The times at which the worker gave up attempts at its subscriptions. */
function timeoutsOf({ subscriptions }: Ledger): number[] {
  const ids = new Set<unknown>(subscriptions.map(({ id }) => id))
  const attempts = stack()
    .worker(0)
    .logLines()
    .filter(({ msg, subscriptionId }) => msg === 'delivery.attempted' && ids.has(subscriptionId))
  return attempts.filter(({ error }) => error === 'timeout').map(({ time }) => Date.parse(String(time)))
}

/** The median time in ms from the acceptance of a message to its arrival, without waits for a processor. */
function delaysOf(ledger: Ledger, path: string, stalls: Stalls): number {
  const delays = receiver()
    .requestsTo(path)
    .map(({ at, text }) => {
      const from = performance.timeOrigin + (ledger.acceptedAt.get(text) ?? 0)
      return at - from - stalls.covered(from, at)
    })
  return percentile(delays, 0.5)
}

/** Watches the memory of the worker. The returned function returns the largest growth. */
function watchMemory(): () => number {
  const { pid } = stack().worker(0)
  const before = residentBytes(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return most - before
  }
}
