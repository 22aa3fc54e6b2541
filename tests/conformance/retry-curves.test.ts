/**
 * Times of retries, by policies that are set over the API. The tests do not wait for minutes: the time of Redis is
 * moved as soon as the next attempt of every delivery is scheduled.
 */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { awsWebhooks, retrying } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lane } from '../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../harness/redis/redis-time.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ env: { FANTAIL_RETRY_JITTER: '0' } })
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

const FUNCTIONS = ['linear', 'arithmetic', 'geometric', 'exponential']
const LONGEST_SECONDS = 60
/** Time in which an attempt is answered and the next one is scheduled. */
const SETTLED_SECONDS = 2
/** Difference between the clocks of two processes on one machine. */
const EARLY_SECONDS = 0.02

interface Curve {
  path: string
  /** The subscription's. */
  id: string
  retries: number
}

/** A webhook whose answers always fail. Without `retries` it has the system's policy. */
async function curve(path: string, retries?: number, set: Record<string, unknown> = {}): Promise<Curve> {
  const attributes = retries === undefined ? {} : retrying(retries, set)
  const arn = await webhooks.subscribe('curves', path, attributes)
  webhooks.respond(path, { status: 500 })
  return { path, id: arn.slice(arn.lastIndexOf(':') + 1), retries: retries ?? 3 }
}

/** Seconds from the attempt to the next, as soon as the next one is scheduled. */
async function plannedDelay({ path, id }: Curve, attempt: number, movedMs: number): Promise<number> {
  const what = `the plan after attempt ${attempt} at ${path}`
  const sent = (await webhooks.waitForSent(path, attempt))[attempt - 1]
  const planned = async () => {
    const { inFlight, nextAttemptAt } = await lane(stack(), { id })
    return inFlight === 0 ? nextAttemptAt : null
  }
  return (Date.parse(await waitFor(planned, { what })) - movedMs - (sent?.at ?? 0)) / 1_000
}

/** The delays before each retry of the last published message, per path. */
async function delaysOf(curves: Curve[]): Promise<Map<string, number[]>> {
  const delays = new Map(curves.map(({ path }) => [path, [] as number[]]))
  for (let attempt = 1; attempt <= Math.max(...curves.map(({ retries }) => retries)); attempt++) {
    const movedMs = (attempt - 1) * LONGEST_SECONDS * 1_000
    for (const one of curves.filter(({ retries }) => retries >= attempt))
      delays.get(one.path)?.push(await plannedDelay(one, attempt, movedMs))
    await moveRedisTime(stack().connection, LONGEST_SECONDS * 1_000)
  }
  return delays
}

function expectDelays(delays: number[] | undefined, seconds: number[]): void {
  expect(delays).toHaveLength(seconds.length)
  seconds.forEach((nominal, i) => {
    expect(delays?.[i]).toBeGreaterThan(nominal - EARLY_SECONDS)
    expect(delays?.[i]).toBeLessThan(nominal + SETTLED_SECONDS)
  })
}

test('[25][27][28][29][30] the policies of the wire are the curves of the attempts', async () => {
  await webhooks.createTopic('curves')
  const phases = { numMinDelayRetries: 1, numMaxDelayRetries: 1, minDelayTarget: 5, maxDelayTarget: 9 }
  const rising = { minDelayTarget: 5, maxDelayTarget: 50 }
  const steady = { minDelayTarget: 7, maxDelayTarget: 7 }
  const curves = [
    await curve('/default'),
    await curve('/linear', 3, { minDelayTarget: 20, maxDelayTarget: 40 }),
    await curve('/phases', 4, phases),
  ]
  for (const backoffFunction of FUNCTIONS) {
    curves.push(await curve(`/rising/${backoffFunction}`, 4, { ...rising, backoffFunction }))
    curves.push(await curve(`/steady/${backoffFunction}`, 2, { ...steady, backoffFunction }))
  }
  const messageId = await webhooks.publish('curves', 'x')
  const delays = await delaysOf(curves)
  expectDelays(delays.get('/default'), [20, 20, 20])
  expectDelays(delays.get('/linear'), [20, 30, 40])
  expectDelays(delays.get('/phases'), [5, 5, 9, 9])
  for (const backoffFunction of FUNCTIONS) {
    expectDelays(delays.get(`/steady/${backoffFunction}`), [7, 7])
    const [first = 0, second = 0, third = 0, last = 0] = delays.get(`/rising/${backoffFunction}`) ?? []
    expectDelays([first, last], [5, 50])
    expect([second > first, third > second, last > third]).toEqual([true, true, true])
  }
  await webhooks.ended(messageId, curves.length)
  for (const { path, retries } of curves)
    expect([path, webhooks.sent(path).length]).toEqual([path, 1 + retries])
})
