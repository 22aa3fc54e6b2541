/** Redis is away, stops answering, or forgets its scripts. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { type Stalls, watchStalls } from '../../harness/runs/stalls.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const PER_SECOND = LONG ? 50 : 15
const REFUSED_WITHIN_MS = 2_000
/** Time from the answer to its arrival at a client on a busy machine. */
const SLACK_MS = 300
/** Reconnecting is tried at least every two seconds. */
const BACK_WITHIN_MS = 5_000
const FLUSHES = LONG ? 30 : 6
const FLUSH_EVERY_MS = 625
const FLUSHED = LONG ? 2_500 : 160
const FLUSHED_PER_SECOND = LONG ? 100 : 40
/** Slower than the publishing, so that some deliveries wait whenever scripts are forgotten. */
const THROTTLE = 0.75 * FLUSHED_PER_SECOND
/** A worker that does not renew the lock of a job for this long loses the job. */
const LOCK_MS = 3_000
/** A third of the time after which a command to Redis fails. */
const STARVED_MS = 500
const OUTAGES_S: (1 | 7 | 30 | 120)[] = LONG ? [1, 7, 30, 120] : [1, 7]

const stack = useStack({ workers: 2, redrive: true, redis: { appendfsync: 'always' } })
const receiver = useReceiver()

test('a Redis that has forgotten its scripts is told them again', async () => {
  const row = beginFault('script-flush')
  const ledger = await Ledger.open({
    again: true,
    stack: stack(),
    receiver: receiver(),
    topic: 'flushed',
    subscriptions: {
      '/flushed/quick': {},
      '/flushed/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: THROTTLE } } },
    },
  })
  const services = stack().services()
  const stalls = watchStalls([stack().redis.pid(), ...services.map(({ pid }) => pid)])
  const publishing = ledger.publishAtRate({ count: FLUSHED, perSecond: FLUSHED_PER_SECOND })
  for (let flush = 0; flush < FLUSHES; flush++) {
    await untilPassed(FLUSH_EVERY_MS)
    await stack().connection.script('FLUSH')
  }
  await publishing
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds: null })
  expect(account).toMatchObject({ lost: 0, refused: 0, unknown: 0 })
  expect(unexplainedRepeats('/flushed/', stalls)).toEqual([])
  expect(account.delivered).toBe(account.owed)
  const lines = services.flatMap((service) => service.logLines())
  expect(lines.filter((line) => JSON.stringify(line).includes('NOSCRIPT'))).toEqual([])
}, 240_000)

/**
 * Deliveries that came again although the machine ran all processes: `<path> <text>`. If it does not run a worker, the
 * worker loses the locks of its jobs, and its commands to Redis fail. Another worker then repeats its work.
 */
function unexplainedRepeats(prefix: string, stalls: Stalls): string[] {
  const requests = receiver().requestsTo(({ path }) => path.startsWith(prefix))
  const byDelivery = Map.groupBy(requests, ({ path, text }) => `${path} ${text}`)
  const isUnexplained = (from: number, to: number) =>
    stalls.covered(Math.min(from, to - LOCK_MS), to) < STARVED_MS
  return [...byDelivery].flatMap(([key, [first, ...again]]) =>
    again.filter(({ at }) => first && isUnexplained(first.at, at)).map(() => key),
  )
}

test.each(OUTAGES_S)(
  'Redis is killed for %i s while publishing, and everything resumes',
  async (seconds) => {
    const row = beginFault(`redis-outage-${seconds}`)
    const topic = `outage-${seconds}`
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic,
      subscriptions: { [`/${topic}/a`]: {}, [`/${topic}/b`]: {} },
    })
    const publishing = ledger.publishAtRate({ count: (seconds + 3) * PER_SECOND, perSecond: PER_SECOND })
    await waitFor(() => ledger.count('accepted') >= PER_SECOND)
    await stack().redis.kill()
    const killedAt = performance.now()
    await untilPassed(seconds * 1_000, killedAt)
    await stack().redis.restart()
    const restartedAt = performance.now()
    const recoverySeconds = await ledger.recovered(restartedAt)
    await publishing
    expect(recoverySeconds * 1_000).toBeLessThan(BACK_WITHIN_MS + SLACK_MS)
    expect(ledger.failures.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([])
    const slowest = Math.max(0, ...ledger.failures.map(({ tookMs }) => tookMs))
    console.info(
      `outage of ${seconds} s: ${ledger.failures.length} refused, the slowest in ${slowest.toFixed(0)} ms`,
    )
    expect(slowest).toBeLessThanOrEqual(REFUSED_WITHIN_MS)
    if (seconds > 2) expect(ledger.failures.length).toBeGreaterThan(PER_SECOND)
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted, recoverySeconds })
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0 })
    for (const service of stack().services()) await waitFor(() => service.isReady())
  },
  240_000,
)

test('a Redis that stops answering is taken for away, and for back when it answers', async () => {
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'frozen',
    subscriptions: { '/frozen': {} },
  })
  expect(await ledger.publish('before')).toBe('accepted')
  await stack().redis.freeze()
  const fates = await Promise.all(['during-1', 'during-2', 'during-3'].map((text) => ledger.publish(text)))
  await stack().redis.thaw()
  expect(fates).not.toContain('accepted')
  for (const { tookMs } of ledger.failures) expect(tookMs).toBeLessThanOrEqual(REFUSED_WITHIN_MS)
  await waitFor(async () => (await ledger.publish(`after-${performance.now()}`)) === 'accepted')
  expect(await ledger.whenSettled()).toMatchObject({ lost: 0, refusedYetSeen: 0 })
}, 30_000)

test('an outage takes one log line per change of state, not thousands', async () => {
  for (const service of stack().services()) {
    const told = service.logLines().filter(({ level }) => level === 'warn' || level === 'error')
    const kinds = Map.groupBy(told, ({ msg }) => msg)
    for (const [msg, lines] of kinds)
      expect([service.label, msg, lines.length < 30]).toEqual([service.label, msg, true])
  }
})
