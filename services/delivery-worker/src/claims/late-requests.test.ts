/** Throttled requests that are late on the way to their endpoint. The times at which they are written are checked. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createHttpSender, type HttpSender } from '@fantail/delivery'
import { type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { useFixture } from '../fixtures/worker.fixture.ts'

const RATE = 20
const IN_A_SECOND_MAX = 23
const WAITING_DIALS = 6
const MESSAGES = 60
/** Less than the time after which an endpoint counts as hung. */
const SLOW_MS_MAX = 800
/** undici's channel: https://github.com/nodejs/undici/blob/main/docs/docs/api/DiagnosticsChannel.md */
const SENT = 'undici:client:sendHeaders'

const fixture = await useFixture()
const written: number[] = []
const note = () => written.push(performance.now())
let receiver: Receiver
let sender: HttpSender

beforeEach(async () => {
  written.length = 0
  subscribe(SENT, note)
  receiver = await startReceiver()
  // Every request dials.
  receiver.respond('/late', { headers: { connection: 'close' } })
})
afterEach(async () => {
  unsubscribe(SENT, note)
  await fixture.reset()
  await sender.close(0)
  await receiver.close()
})

/** A worker with the given name look-up, and a throttled lane in which messages wait. */
async function startLane(lookUp: () => Promise<void>): Promise<void> {
  const resolver = { resolve: () => lookUp().then(() => ['127.0.0.1']) }
  sender = createHttpSender({ allowPrivate: true, timeoutMs: 3_000, resolver })
  await fixture.subscribe('late', {
    endpoint: `http://late.example:${receiver.port}/late`,
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: RATE } },
  })
  await fixture.startWorker(sender)
  await fixture.publishAll(Array.from({ length: MESSAGES }, (_, n) => `m${n}`))
}

const mostInASecond = () =>
  Math.max(...written.map((from) => written.filter((at) => at >= from && at < from + 1_000).length))

test('requests that have waited for the same name do not leave together', async () => {
  const waiting: (() => void)[] = []
  let isSlow = false
  const arrived = () => receiver.requests.length
  await startLane(() => (isSlow ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()))
  await waitFor(() => arrived() >= RATE, { what: 'a second of requests' })
  isSlow = true
  const slowUntil = performance.now() + SLOW_MS_MAX
  const isFull = () => waiting.length >= WAITING_DIALS || performance.now() > slowUntil
  await waitFor(isFull, { what: 'dials that wait' })
  isSlow = false
  for (const go of waiting.splice(0)) go()
  await waitFor(() => arrived() >= MESSAGES, { what: 'all to arrive', timeoutMs: 30_000 })
  expect(mostInASecond()).toBeLessThanOrEqual(IN_A_SECOND_MAX)
  expect(new Set(receiver.requests.map(({ text }) => text)).size).toBe(MESSAGES)
}, 60_000)
