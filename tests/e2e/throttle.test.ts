import { expect, onTestFinished, test } from 'vitest'
import { mostInWindow } from '../harness/ledgers/figures.ts'
import { lowestPace, mostUnexplained } from '../harness/ledgers/pace.ts'
import { answerNoncesOnce, startResetting } from '../harness/receivers/repeating-receivers.ts'
import { sendTimes } from '../harness/receivers/send-times.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { watchStalls } from '../harness/runs/stalls.ts'
import { useStack } from '../harness/services/stack.ts'

const RATE = 20
const WAITING = 400
/** Long enough to check windows of ten seconds that begin at any point of another ten seconds. */
const MEASURED_ATTEMPTS = 410
const IN_A_SECOND_MAX = 23
const AVERAGE_MIN = 19.4
const AVERAGE_SECONDS = 10
/** The test gives up after this time. A busy machine may start three workers late, and run them late. */
const GIVEN_UP_MS = 120_000

const stack = useStack({ workers: 3, env: { FANTAIL_LOG_LEVEL: 'debug' } })
const receiver = useReceiver()

test(
  '[54] three workers together keep to a throttle, retries and repeated requests included, and use it',
  async () => {
    const { client } = stack()
    // Every third attempt fails and is repeated a second later, so retries and fresh deliveries share the rate.
    receiver().respond('/throttled', (_, n) => ({ status: n % 3 === 0 ? 503 : 200 }))
    await client.put('/v1/topics/throttled')
    const { id } = await client.post<{ id: string }>('/v1/topics/throttled/subscriptions', {
      endpoint: `${receiver().url}/throttled`,
      deliveryPolicy: {
        healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 50 },
        throttlePolicy: { maxReceivesPerSecond: RATE },
      },
    })
    // Two further subscriptions, for which most deliveries need two requests.
    const resetting = await startResetting()
    onTestFinished(() => resetting.close())
    for (const endpoint of [resetting.url, answerNoncesOnce(receiver(), '/digest')]) {
      const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: RATE } }
      await client.post('/v1/topics/throttled/subscriptions', { endpoint, deliveryPolicy })
    }
    await client.post(`/v1/subscriptions/${id}/pause`)
    for (let n = 0; n < WAITING; n += 100) {
      const messages = Array.from({ length: 100 }, (_, i) => ({ message: `m${n + i}` }))
      await client.post('/v1/topics/throttled/messages', { messages })
    }
    await expect.poll(() => waiting(id), { timeout: GIVEN_UP_MS }).toBe(WAITING)
    await client.post(`/v1/subscriptions/${id}/resume`)
    const stalls = watchStalls([stack().redis.pid(), ...stack().workers.map(({ pid }) => pid)])
    const attempts = await receiver().waitForRequests(MEASURED_ATTEMPTS, '/throttled', GIVEN_UP_MS)
    // Send times are compared, not arrivals. If a process stalls, arrivals may come closer together or further apart.
    await expect
      .poll(() => sendTimes(stack()).get(id)?.length, { timeout: GIVEN_UP_MS })
      .toBeGreaterThanOrEqual(MEASURED_ATTEMPTS)
    const sent = sendTimes(stack())
    const mostSent = [...sent.values()].map((times) => mostInWindow(times, 1_000))
    const average = lowestPace(sent.get(id) ?? [], {
      rate: RATE,
      windowMs: AVERAGE_SECONDS * 1_000,
      stalls: stalls.all().filter(({ process }) => process !== 'self'),
    })
    const arrivals = [attempts, receiver().requestsTo('/digest')].map((requests) =>
      requests.map(({ at }) => at),
    )
    const mostArrived = [...arrivals, resetting.times].map((times) =>
      mostUnexplained(times, { rate: RATE, windowMs: 1_000, stalls: stalls.all() }),
    )
    console.info(
      `throttle ${RATE}/s: at most ${mostSent} sent and ${mostArrived} arrived in a second, at least ${average}/s over ten`,
    )
    for (const most of [...mostSent, ...mostArrived]) expect(most).toBeLessThanOrEqual(IN_A_SECOND_MAX)
    expect(average).toBeGreaterThanOrEqual(AVERAGE_MIN)
    expect(await waiting(id)).toBeGreaterThan(0)
    const others = () => [resetting.times.length, receiver().requestsTo('/digest').length]
    await expect.poll(() => Math.min(...others()), { timeout: GIVEN_UP_MS }).toBeGreaterThanOrEqual(WAITING)
  },
  2 * GIVEN_UP_MS,
)

async function waiting(id: string): Promise<number> {
  const { lane } = await stack().client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${id}`)
  return lane.waiting
}
