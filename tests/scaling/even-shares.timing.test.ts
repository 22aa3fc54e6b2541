/**
 * Workers added to a stack share its work: attempts straight from dispatch jobs, and a backlog in many lanes, in some
 * and in one. Endpoints answer slowly and take few requests at a time. So the test measures how the workers share the
 * work. It does not measure how they share the machine's cores and the one receiver.
 */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lanesOf, type Subscription } from '../harness/receivers/webhooks.ts'
import { type Stack, useStack } from '../harness/services/stack.ts'
import { deliveredBy, imbalance } from './shares.ts'

const IMBALANCE_MAX = 0.2
/** A batch has only eight parts, of which a worker may get many by chance. */
const FEW_PARTS_IMBALANCE_MAX = 0.5
const BATCH = 50
/** The most rounds of a test. Rounds are small, because the first one is usually enough. */
const ROUNDS_MAX = 12
const TEST_MS = 240_000

const stack = useStack({ workers: 3 })
const receiver = useReceiver()

interface Webhooks {
  count: number
  answerMs: number
  maxInFlight?: number
}

async function open(
  { client }: Stack,
  topic: string,
  { count, answerMs, maxInFlight = 32 }: Webhooks,
): Promise<string[]> {
  await client.put(`/v1/topics/${topic}`)
  receiver().respond(({ path }) => path.startsWith(`/${topic}/`), { delayMs: answerMs })
  const subscribed = Array.from({ length: count }, (_, i) => {
    const endpoint = `${receiver().url}/${topic}/${i}`
    return client.post<Subscription>(`/v1/topics/${topic}/subscriptions`, { endpoint, maxInFlight })
  })
  return (await Promise.all(subscribed)).map(({ id }) => id)
}

async function publishBatches({ client }: Stack, topic: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, count - n) }, (_, i) => ({ message: `m${n + i}` }))
    await client.post(`/v1/topics/${topic}/messages`, { messages })
  }
}

interface Work {
  topic: string
  /** Deliveries of the topic before the first round. */
  before?: number
  /** Deliveries of each round. */
  deliveries: number
  round(): Promise<void>
  imbalanceMax?: number
}

/**
 * Expects that the workers share the work. In one round a worker may get more or less by chance: it waits for a
 * processor, or is the first at many lanes and goes on with them. So uneven shares are followed by another round, and
 * all rounds count together. Chance evens out over the rounds, a worker that Fantail prefers does not.
 */
async function expectEvenShares(stack: Stack, work: Work): Promise<void> {
  const { topic, before = 0, deliveries, imbalanceMax = IMBALANCE_MAX } = work
  let uneven = Number.POSITIVE_INFINITY
  for (let round = 1; uneven >= imbalanceMax && round <= ROUNDS_MAX; round++) {
    await work.round()
    const shares = await sharesOf(stack, topic, before + round * deliveries)
    uneven = imbalance(shares)
    console.info(`${topic}: ${shares.join(' + ')}, imbalance ${(100 * uneven).toFixed(1)} %`)
  }
  expect(uneven).toBeLessThan(imbalanceMax)
}

/** The shares of the workers when they have made this many deliveries of the topic. */
async function sharesOf(stack: Stack, topic: string, deliveries: number): Promise<number[]> {
  const all = async () => {
    const shares = await deliveredBy(stack, topic)
    return shares.reduce((sum, share) => sum + share, 0) >= deliveries ? shares : undefined
  }
  return waitFor(all, { what: `${deliveries} deliveries`, timeoutMs: 60_000, intervalMs: 200 })
}

test(
  'three workers share first attempts',
  async () => {
    const topic = 'first'
    await open(stack(), topic, { count: 10, answerMs: 20 })
    // Messages are published one at a time, so each is a job. Of a few large jobs a worker may get many by chance.
    const round = async () => {
      for (let n = 0; n < 350; n++)
        await stack().client.post(`/v1/topics/${topic}/messages`, { message: 'm' })
    }
    await expectEvenShares(stack(), { topic, deliveries: 3_500, round })
  },
  TEST_MS,
)

test(
  'three workers share the first attempts of one large batch',
  async () => {
    const topic = 'batch'
    await open(stack(), topic, { count: 300, answerMs: 20 })
    // Endpoints must have answered before. Otherwise many first attempts at them would go to their lanes.
    await publishBatches(stack(), topic, 1)
    await receiver().waitForRequests(300, ({ path }) => path.startsWith(`/${topic}/`), 20_000)
    await expectEvenShares(stack(), {
      topic,
      before: 300,
      deliveries: 300 * BATCH,
      round: () => publishBatches(stack(), topic, BATCH),
      imbalanceMax: FEW_PARTS_IMBALANCE_MAX,
    })
  },
  TEST_MS,
)

test.each([
  { count: 1, each: 1_200, answerMs: 30 },
  { count: 50, each: 24, answerMs: 100, maxInFlight: 2 },
  { count: 300, each: 4, answerMs: 300, maxInFlight: 1 },
])(
  'three workers share the backlog of $count lanes',
  async ({ each, ...webhooks }) => {
    const topic = `lanes-${webhooks.count}`
    const ids = await open(stack(), topic, webhooks)
    const post = (what: string) =>
      Promise.all(ids.map((id) => stack().client.post(`/v1/subscriptions/${id}/${what}`)))
    const isParked = async () => (await lanesOf(stack(), topic)).every(({ waiting }) => waiting === each)
    const round = async () => {
      await post('pause')
      await publishBatches(stack(), topic, each)
      await waitFor(isParked, {
        what: 'the backlog',
        timeoutMs: 30_000,
        intervalMs: 100,
      })
      await post('resume')
    }
    await expectEvenShares(stack(), { topic, deliveries: webhooks.count * each, round })
  },
  TEST_MS,
)
