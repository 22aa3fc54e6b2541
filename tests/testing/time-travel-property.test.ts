/**
 * Property: on a stack whose time is moved, attempts, their order and dead letters are the same as with a real clock.
 * Short random curves run on two stacks at once: one waits, the other one is moved. Topics are standard or FIFO, and
 * some endpoints answer with Retry-After. FANTAIL_TEST_TRAVEL_RUNS sets the number of runs, each with CASES curves.
 */
import { FantailError } from '@fantail/client'
import type { Delivery } from '@fantail/client/api'
import { waitFor } from '@fantail/test-kit'
import { type FantailStack, type ReceiverRoute, startFantail } from '@fantail/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

const RUNS = Number(process.env.FANTAIL_TEST_TRAVEL_RUNS ?? 1)
const CASES = 8
/** How many of them have FIFO topics. */
const FIFO_CASES = 3
const RUN_MS = 120_000
/**
 * By how many seconds one of two requests may be later, in addition to the time by which the machine has delayed it.
 */
const LATE_S = 0.9
const MESSAGES_MAX = 3
const CLOSE_S = 0.25
const LOOK_MS = 20

interface Case {
  policy: {
    numRetries: number
    numNoDelayRetries: number
    minDelayTarget: number
    maxDelayTarget: number
    backoffFunction: 'linear' | 'arithmetic' | 'geometric' | 'exponential'
  }
  throttle: number | null
  /** Statuses of each message's attempts; the last one for ever. */
  statuses: Status[]
  messages: number
  /** The topic is a FIFO topic, and its messages are of one group. */
  isFifo: boolean
}

/** `later`: 503 with Retry-After. */
type Status = number | 'later'

const LATER = { status: 503, headers: { 'Retry-After': '2' } }

const aCase: fc.Arbitrary<Case> = fc.record({
  policy: fc.record({
    numRetries: fc.integer({ min: 1, max: 3 }),
    numNoDelayRetries: fc.constantFrom(0, 1),
    minDelayTarget: fc.constant(1),
    maxDelayTarget: fc.constantFrom(1, 3),
    backoffFunction: fc.constantFrom('linear', 'arithmetic', 'geometric', 'exponential'),
  }),
  // The throttle's send times must be far from the times of retries. Otherwise it is chance which of two comes first.
  throttle: fc.constantFrom(null, null, 0.7),
  statuses: fc.array(fc.constantFrom<Status>(503, 'later', 200, 404), { minLength: 1, maxLength: 3 }),
  messages: fc.integer({ min: 1, max: MESSAGES_MAX }),
  isFifo: fc.constant(false),
})

/** A group's messages wait for each other, so there are fewer of them, and the curve is shorter. */
const aFifoCase: fc.Arbitrary<Case> = aCase.map((one) => ({
  ...one,
  policy: { ...one.policy, numRetries: Math.min(one.policy.numRetries, 2), maxDelayTarget: 2 },
  throttle: null,
  messages: 2,
  isFifo: true,
}))

/** A run has both kinds of topics. */
const someCases = fc
  .tuple(
    fc.array(aCase, { minLength: CASES - FIFO_CASES, maxLength: CASES - FIFO_CASES }),
    fc.array(aFifoCase, { minLength: FIFO_CASES, maxLength: FIFO_CASES }),
  )
  .map(([standard, fifo]) => [...standard, ...fifo])

/** Seconds from the publication of a message to each attempt, and its end. */
interface Told {
  attempts: number[]
  end: string
}

interface Ran {
  messages: Told[]
  /** Number of the message of each request, and when it came (epoch s), in the order of arrival. */
  order: { message: number; at: number }[]
}

describe.runIf(HAS_REDIS)('time travel beside a real clock', () => {
  let real: FantailStack
  let moved: FantailStack
  let runs = 0

  beforeAll(async () => {
    ;[real, moved] = await Promise.all([startFantail(stackOptions()), startFantail(stackOptions())])
  })
  afterAll(() => Promise.all([real.stop(), moved.stop()]))

  test('attempts, their order and dead letters are the same', { timeout: RUNS * RUN_MS }, async () => {
    const sameOnBoth = async (cases: Case[]) => {
      const run = `run${runs++}`
      const stalls = watchStalls()
      const [waited, travelled] = await Promise.all([
        runAll({ fantail: real, finish: async () => undefined }, run, cases),
        runAll({ fantail: moved, finish: () => moved.advance('1m') }, run, cases),
      ])
      const lateMax = LATE_S + stalls.end()
      cases.forEach((one, i) => {
        expectSame(one, travelled[i], waited[i], lateMax)
      })
    }
    const property = fc.asyncProperty(someCases, sameOnBoth)
    // Another run takes seconds, so a failure is shown as it is.
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
  })
})

interface Clock {
  fantail: FantailStack
  /** Lets everything become due. */
  finish(): Promise<unknown>
}

async function runAll({ fantail, finish }: Clock, run: string, cases: Case[]): Promise<Ran[]> {
  const receiver = await fantail.receiver()
  const topics = cases.map(({ isFifo }, i) => `${run}-${i}${isFifo ? '.fifo' : ''}`)
  await Promise.all(
    cases.map((one, i) => subscribe(fantail, receiver.on(`/${topics[i]}`), topics[i] ?? '', one)),
  )
  const ids: string[][] = cases.map(() => [])
  // Both stacks get their messages at once, because real time passes between two publishes on either.
  for (let n = 0; n < MESSAGES_MAX; n++) {
    const all = cases.map(async ({ messages, isFifo }, i) => {
      if (n >= messages) return
      const ofGroup = isFifo ? { groupId: 'group', deduplicationId: String(n) } : {}
      ids[i]?.push((await fantail.publish(topics[i] ?? '', { n }, ofGroup)).messageId)
    })
    await Promise.all(all)
  }
  await finish()
  const ends = await Promise.all(ids.map((some) => Promise.all(some.map((id) => endOf(fantail, id)))))
  return ids.map((some, i) => {
    const order = receiver.on(`/${topics[i]}`).requests.map(({ messageId = '', time }) => {
      return { message: some.indexOf(messageId), at: time.getTime() / 1_000 }
    })
    const messages = some.map((id, n) => {
      const attempts = order.filter(({ message }) => message === n).map(({ at }) => at - publishedAt(id))
      return { attempts, end: ends[i]?.[n] ?? '' }
    })
    return { messages, order }
  })
}

async function subscribe(
  fantail: FantailStack,
  path: ReceiverRoute,
  topic: string,
  { policy, throttle, statuses }: Case,
): Promise<void> {
  const [first = 200, ...others] = statuses.map((status) => (status === 'later' ? LATER : status))
  others.reduce((script, reply) => script.then(reply), path.perMessage().reply(first))
  const throttlePolicy = throttle === null ? {} : { throttlePolicy: { maxReceivesPerSecond: throttle } }
  await fantail.subscribe(topic, path, { deliveryPolicy: { healthyRetryPolicy: policy, ...throttlePolicy } })
}

/** State and reason, when the delivery has ended. */
async function endOf(fantail: FantailStack, messageId: string): Promise<string> {
  const ended = async () => {
    const [delivery] = await fantail.client.messages(messageId).deliveries().catch(noneYet)
    const isOpen = !delivery || delivery.state === 'waiting' || delivery.state === 'inFlight'
    return isOpen ? undefined : [delivery.state, delivery.reason, delivery.attempts].join(' ')
  }
  return waitFor(ended, { what: `the end of ${messageId}`, timeoutMs: RUN_MS })
}

/** A message that was not matched yet is unknown. */
function noneYet(error: unknown): Delivery[] {
  if (error instanceof FantailError && error.code === 'not_found') return []
  throw error
}

function publishedAt(messageId: string): number {
  return Number.parseInt(messageId.replaceAll('-', '').slice(0, 12), 16) / 1_000
}

/** The seconds by which this machine has delayed this process, until `end` is called. It delays other processes too. */
function watchStalls(): { end(): number } {
  let last = performance.now()
  let stalledMs = 0
  const timer = setInterval(() => {
    const late = performance.now() - last - LOOK_MS
    if (late > LOOK_MS) stalledMs += late
    last = performance.now()
  }, LOOK_MS)
  return {
    end() {
      clearInterval(timer)
      return stalledMs / 1_000
    },
  }
}

function expectSame(
  one: Case | undefined,
  travelled: Ran | undefined,
  waited: Ran | undefined,
  lateMax: number,
): void {
  const shown = JSON.stringify({ one, travelled, waited, lateMax })
  expect(
    travelled?.messages.map(({ end }) => end),
    shown,
  ).toEqual(waited?.messages.map(({ end }) => end))
  travelled?.messages.forEach(({ attempts }, n) => {
    const others = waited?.messages[n]?.attempts ?? []
    expect(attempts.length, shown).toBe(others.length)
    attempts.forEach((at, i) => {
      expect(Math.abs(at - (others[i] ?? 0)), shown).toBeLessThan(lateMax)
    })
  })
  // Requests that come at nearly the same time have no order, unless they are of one group.
  const apart = (ran: Ran | undefined) => ran?.order.map(({ message }) => message)
  const isClose = travelled?.order.some(({ at }, i, all) => i > 0 && at - (all[i - 1]?.at ?? 0) < CLOSE_S)
  if (one?.isFifo || !isClose) expect(apart(travelled), shown).toEqual(apart(waited))
}
