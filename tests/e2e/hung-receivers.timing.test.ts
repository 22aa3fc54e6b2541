import { steadyNow, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { median, percentile } from '../harness/ledgers/figures.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lanesOf } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const RECEIVERS = 150
const HUNG = 30
const ROUNDS = 3
/** More than an endpoint may hold. */
const MESSAGES = 36
/** Without hung receivers, 1,440 deliveries tell the p99 as well as more of them. */
const CALM_MESSAGES = 12
const PER_SECOND = 12
/** Opens connections and warms up the code. */
const FIRST_MESSAGES = 12
const IN_FLIGHT_MAX = 32

const stack = useStack({ workers: 2 })
const receiver = useReceiver()
const paths = Array.from({ length: RECEIVERS }, (_, i) => `/r${i}`)
const others = new Set(paths.slice(HUNG))

test('[53] 30 hung receivers among 150 leave the others as fast as they were', async () => {
  const { client } = stack()
  await client.put('/v1/topics/hung')
  const subscribe = (path: string) =>
    client.post('/v1/topics/hung/subscriptions', {
      endpoint: `${receiver().url}${path}`,
      rawMessageDelivery: true,
    })
  await Promise.all(paths.map(subscribe))
  let release: Promise<void> | undefined
  receiver().respond(
    ({ path }) => !others.has(path),
    () => (release ? { until: release } : {}),
  )
  await round('warm-up', FIRST_MESSAGES)
  const [calm, troubled]: [number[], number[]] = [[], []]
  for (let i = 0; i < ROUNDS; i++) {
    calm.push(await round(`calm-${i}`, CALM_MESSAGES))
    const hang = Promise.withResolvers<void>()
    release = hang.promise
    troubled.push(await round(`hung-${i}`))
    release = undefined
    hang.resolve()
    await waitFor(nothingWaits, { timeoutMs: 30_000, intervalMs: 100 })
  }
  const inFlight = Math.max(...paths.slice(0, HUNG).map((path) => receiver().inFlightMax(path)))
  const show = (p99s: number[]) => p99s.map((p99) => p99.toFixed(1)).join(', ')
  console.info(
    `p99 in ms: calm ${show(calm)}; with hung receivers ${show(troubled)}; most in flight: ${inFlight}`,
  )
  expect(inFlight).toBeLessThanOrEqual(IN_FLIGHT_MAX)
  expect(median(troubled)).toBeLessThanOrEqual(1.5 * median(calm) + 10)
}, 120_000)

/** Publishes at a steady rate. Returns the p99 from publish to arrival at the receivers that never hang. */
async function round(name: string, messages = MESSAGES): Promise<number> {
  const sentAt = new Map<string, number>()
  const startedAt = steadyNow()
  for (let n = 0; n < messages; n++) {
    await waitFor(() => steadyNow() >= startedAt + (n * 1_000) / PER_SECOND, { intervalMs: 2 })
    const text = `${name}-${n}`
    sentAt.set(text, steadyNow())
    await stack().client.post('/v1/topics/hung/messages', { message: text })
  }
  const isOurs = ({ path, text }: { path: string; text: string }) => others.has(path) && sentAt.has(text)
  const arrived = await receiver().waitForRequests(messages * others.size, isOurs, 30_000)
  return percentile(
    arrived.map(({ at, text }) => at - (sentAt.get(text) ?? 0)),
    0.99,
  )
}

async function nothingWaits(): Promise<boolean> {
  return (await lanesOf(stack(), 'hung')).every(({ waiting, inFlight }) => waiting + inFlight === 0)
}
