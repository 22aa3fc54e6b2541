import { steadyNow, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { median, percentile } from '../harness/ledgers/figures.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lanesOf } from '../harness/receivers/webhooks.ts'
import { watchStalls } from '../harness/runs/stalls.ts'
import { useStack } from '../harness/services/stack.ts'

const RECEIVERS = 150
const HUNG = 30
/** A disturbance of one round must not decide. */
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
/** Times at which messages came to receivers that never hang, by their text. */
const arrivals = new Map<string, number[]>()

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
  receiver().respond(
    ({ path }) => others.has(path),
    ({ text, at }) => {
      arrivals.get(text)?.push(at)
      return {}
    },
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

/**
 * Publishes at a steady rate, but each message only when the one before has arrived, so that a busy machine adds no
 * backlog to the times. Returns the p99 from publish to arrival at the receivers that never hang. Times in which this
 * process or one of the stack waited for a processor do not count.
 */
async function round(name: string, messages = MESSAGES): Promise<number> {
  const arrived: { from: number; at: number }[] = []
  const pids = [
    stack().redis.pid(),
    ...stack()
      .services()
      .map(({ pid }) => pid),
  ]
  let stop = () => {}
  const stalls = watchStalls(pids, (end) => {
    stop = end
  })
  const startedAt = steadyNow()
  for (let n = 0; n < messages; n++) {
    await waitFor(() => steadyNow() >= startedAt + (n * 1_000) / PER_SECOND, { intervalMs: 2 })
    const message = `${name}-${n}`
    const times: number[] = []
    arrivals.set(message, times)
    const from = steadyNow()
    await stack().client.post('/v1/topics/hung/messages', { message })
    const all = () => times.length >= others.size
    await waitFor(all, { what: `${message} at all receivers that never hang`, timeoutMs: 30_000 })
    arrived.push(...times.map((at) => ({ from, at })))
  }
  stop()
  return percentile(
    arrived.map(({ from, at }) => at - from - stalls.covered(from, at)),
    0.99,
  )
}

async function nothingWaits(): Promise<boolean> {
  return (await lanesOf(stack(), 'hung')).every(({ waiting, inFlight }) => waiting + inFlight === 0)
}
