/**
 * Clocks jump by an hour: that of one worker, and that of Redis's host, from which Fantail takes its time. Meanwhile
 * deliveries wait that are due soon, due later, or delayed by a throttle.
 */
import { type ReceivedRequest, redisServerPath, waitFor } from '@fantail/test-kit'
import { afterAll, describe, expect, test } from 'vitest'
import { beginFault, type FaultName, LONG, secondsSince } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { type Stalls, watchStalls } from '../../harness/runs/stalls.ts'
import { createFalseClock, type FalseClock, falseClockProblem } from '../../harness/services/false-clock.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { type Stack, useStack } from '../../harness/services/stack.ts'

const HOUR_S = 3_600
const PER_SECOND = 20
const BEFORE_MS = 2_000
/** How long the clock stays at each time: longer than the delay of a retry. */
const STAY_MS = LONG ? 60_000 : 9_000
const RETRY_S = 5
const THROTTLE = 10
/** A retry may be early by its jitter. */
const JITTER = 0.1
/** Longest delay until a change is noticed, by libfaketime's caching and a busy machine. */
const LATE_S = 6
/** Within this time a worker notices that Redis's clock was set back. */
const NOTICED_S = 2
const ATTEMPT_TIMEOUT_MS = 2_000
/** A worker that does not renew the lock of a job for this long loses the job. */
const LOCK_MS = 3_000
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: String(ATTEMPT_TIMEOUT_MS) }
const receiver = useReceiver()

interface Jump {
  clock: FalseClock
  /** Seconds that the clock is off, one after the other. */
  jumps: number[]
  /** The most retries that may come early. */
  earlyMax: number
}

async function jump(stack: Stack, name: FaultName, { clock, jumps, earlyMax }: Jump): Promise<void> {
  const row = beginFault(name)
  receiver().respond(`/${name}/later`, ({ attempt }) => ({ status: attempt === 1 ? 503 : 200 }))
  const ledger = await Ledger.open({
    stack,
    receiver: receiver(),
    topic: name,
    subscriptions: {
      [`/${name}/quick`]: {},
      [`/${name}/later`]: {
        deliveryPolicy: retries(3, { minDelayTarget: RETRY_S, maxDelayTarget: RETRY_S }),
      },
      [`/${name}/throttled`]: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: THROTTLE } } },
    },
  })
  const seconds = (BEFORE_MS + jumps.length * STAY_MS) / 1_000
  const begunAt = performance.now()
  const stalls = watchStalls([stack.redis.pid(), ...stack.services().map(({ pid }) => pid)])
  const publishing = ledger.publishAtRate({ count: seconds * PER_SECOND, perSecond: PER_SECOND })
  await untilPassed(BEFORE_MS)
  let recoverySeconds = 0
  for (const seconds of jumps) {
    clock.set(seconds)
    const since = performance.now()
    recoverySeconds = Math.max(recoverySeconds, await arrivalSince(`/${name}/quick`, since))
    await untilPassed(STAY_MS, since)
  }
  await publishing
  expect(ledger.ownFailures()).toEqual([])
  const throttledAt = () =>
    receiver()
      .requestsTo(`/${name}/throttled`)
      .map(({ at }) => at)
  const sentMin = 0.6 * THROTTLE * (seconds - LATE_S)
  await waitFor(() => throttledAt().length >= sentMin, { what: 'throttled deliveries', timeoutMs: 60_000 })
  const [sent, passed] = [throttledAt(), secondsSince(begunAt)]
  // The throttle is removed, so that its backlog is delivered.
  const throttled = ledger.subscriptions.find(({ path }) => path.endsWith('throttled'))
  await stack.client.patch(`/v1/subscriptions/${throttled?.id}`, { deliveryPolicy: null })
  const account = await ledger.whenSettled({ timeoutMs: 40_000 })
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  const waits = waitsOf(`/${name}/later`, stalls)
  const early = waits.filter(({ longest }) => longest < RETRY_S * (1 - JITTER) - 0.1)
  const most = Math.max(...waits.map(({ shortest }) => shortest))
  const sentMinAt = sent[Math.ceil(sentMin) - 1] ?? Number.NaN
  const sentMinSeconds = fairSeconds(stalls, performance.timeOrigin + begunAt, sentMinAt)
  console.info(
    JSON.stringify({
      name,
      retries: waits.length,
      early: early.length,
      most,
      sent: sent.length,
      seconds: passed,
    }),
  )
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, expired: 0, discarded: 0, deadLettered: 0 })
  expect(account.delivered).toBe(account.owed)
  // Neither retries nor throttled deliveries came early.
  expect(early.length).toBeLessThanOrEqual(earlyMax)
  expect(sent.length).toBeLessThanOrEqual(1.1 * THROTTLE * (passed + 1))
  // Nothing frozen.
  expect(most).toBeLessThanOrEqual(RETRY_S * (1 + JITTER) + LATE_S)
  expect(sentMinSeconds).toBeLessThanOrEqual(seconds)
}

/** Seconds between two epoch ms, without times in which a process waited for a processor. */
function fairSeconds(stalls: Stalls, from: number, to: number): number {
  return (to - from - stalls.covered(from, to)) / 1_000
}

/**
 * Seconds between the first and the second attempt of each message that had both. `shortest` leaves out times in which
 * a process waited for a processor. `longest` adds them, because on a busy machine the first attempt may be noticed
 * late. A worker that gets no processor time may also lose its job. Another worker then repeats the first attempt.
 */
function waitsOf(path: string, stalls: Stalls): { shortest: number; longest: number }[] {
  const byText = Map.groupBy(receiver().requestsTo(path), ({ text }) => text)
  return [...byText.values()].flatMap(([first, second]: ReceivedRequest[]) => {
    if (!first || !second) return []
    const lateMs = stalls.covered(first.at - ATTEMPT_TIMEOUT_MS - LOCK_MS, second.at)
    return [
      {
        shortest: fairSeconds(stalls, first.at, second.at),
        longest: (second.at - first.at + lateMs) / 1_000,
      },
    ]
  })
}

/** Seconds until an arrival that came more than a second after `since`. */
async function arrivalSince(path: string, since: number): Promise<number> {
  const from = performance.timeOrigin + since + 1_000
  await waitFor(
    () =>
      receiver()
        .requestsTo(path)
        .some(({ at }) => at >= from),
    { timeoutMs: 60_000 },
  )
  return secondsSince(since) - 1
}

const TEST_MS = 3 * STAY_MS + 120_000
const problems = {
  worker: falseClockProblem(process.execPath),
  redis: falseClockProblem(redisServerPath()),
}
for (const problem of new Set(Object.values(problems)))
  if (problem) console.warn(`clocks.test.ts is skipped: ${problem}`)

describe.skipIf(problems.worker)('the clock of one worker', () => {
  const clock = createFalseClock('worker')
  const stack = useStack({ workers: 2, env, workerEnv: (index) => (index === 0 ? clock.env : {}) })
  afterAll(() => clock.remove())

  test(
    'jumps ahead and back: its deliveries go by the time of Redis',
    () => jump(stack(), 'worker-clock', { clock, jumps: [HOUR_S, -HOUR_S], earlyMax: 0 }),
    TEST_MS,
  )
})

describe.skipIf(problems.redis)('the clock of the host of Redis', () => {
  const clock = createFalseClock('redis')
  const stack = useStack({ workers: 2, env, redis: { env: clock.env, spawned: true } })
  afterAll(() => clock.remove())

  test(
    'jumps an hour ahead: nothing is lost, and it is time passed',
    () =>
      jump(stack(), 'redis-clock-forward', { clock, jumps: [HOUR_S], earlyMax: Number.POSITIVE_INFINITY }),
    TEST_MS,
  )

  test(
    'jumps an hour back: nothing freezes',
    () => jump(stack(), 'redis-clock-back', { clock, jumps: [0], earlyMax: NOTICED_S * PER_SECOND }),
    TEST_MS,
  )
})
