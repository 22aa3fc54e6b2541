import { expect, test } from 'vitest'
import { fewestInWindow, mostInWindow } from '../harness/figures.ts'
import { useStack } from '../harness/stack.ts'
import { useReceiver } from '../harness/use-receiver.ts'

const RATE = 20
const WAITING = 400
/** Long enough for windows of ten seconds at every point of ten more. */
const MEASURED_ATTEMPTS = 410
const IN_A_SECOND_MAX = 23
const AVERAGE_MIN = 19.4
const AVERAGE_SECONDS = 10

const stack = useStack({ workers: 3 })
const receiver = useReceiver()

test('[54] three workers together keep to a throttle, retries included, and use it', async () => {
  const { client } = stack()
  // Every third attempt fails and is tried again a second later: retries share the rate with what is fresh.
  receiver().respond('/throttled', (_, n) => ({ status: n % 3 === 0 ? 503 : 200 }))
  await client.put('/v1/topics/throttled')
  const { id } = await client.post<{ id: string }>('/v1/topics/throttled/subscriptions', {
    endpoint: `${receiver().url}/throttled`,
    deliveryPolicy: {
      healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 50 },
      throttlePolicy: { maxReceivesPerSecond: RATE },
    },
  })
  await client.post(`/v1/subscriptions/${id}/pause`)
  for (let n = 0; n < WAITING; n += 100) {
    const messages = Array.from({ length: 100 }, (_, i) => ({ message: `m${n + i}` }))
    await client.post('/v1/topics/throttled/messages', { messages })
  }
  await expect.poll(() => waiting(id), { timeout: 10_000 }).toBe(WAITING)
  await client.post(`/v1/subscriptions/${id}/resume`)
  const attempts = await receiver().waitForRequests(MEASURED_ATTEMPTS, '/throttled', 40_000)
  const times = attempts.map(({ at }) => at)
  const most = mostInWindow(times, 1_000)
  const average = fewestInWindow(times, AVERAGE_SECONDS * 1_000) / AVERAGE_SECONDS
  console.info(`throttle ${RATE}/s: at most ${most} in a second, at least ${average}/s over ten`)
  expect(most).toBeLessThanOrEqual(IN_A_SECOND_MAX)
  expect(average).toBeGreaterThanOrEqual(AVERAGE_MIN)
  expect(await waiting(id)).toBeGreaterThan(0)
}, 60_000)

async function waiting(id: string): Promise<number> {
  const { lane } = await stack().client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${id}`)
  return lane.waiting
}
