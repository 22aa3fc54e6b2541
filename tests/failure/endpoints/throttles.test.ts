/**
 * Throttles when attempts take more than one request, and when a worker is stalled. The test compares the send times of
 * all workers. tests/e2e/throttle.test.ts measures at the receiver.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { mostInWindow } from '../../harness/ledgers/figures.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import {
  answerNoncesOnce,
  type Resetting,
  startResetting,
} from '../../harness/receivers/repeating-receivers.ts'
import { sendTimes } from '../../harness/receivers/send-times.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { useStack } from '../../harness/services/stack.ts'

const RATE = 20
const IN_A_SECOND_MAX = 23
const SLOW_RATE = 1
const SLOW_IN_A_SECOND_MAX = 2
const MESSAGES = LONG ? 400 : 40
const STALL_MS = 1_000
const STALL_EVERY_MS = 1_700

/** Stalls the process on SIGUSR2. Timers and sockets wait, as during a garbage collection. */
const STALL = `data:text/javascript,process.on('SIGUSR2',()=>Atomics.wait(new(Int32Array)(new(SharedArrayBuffer)(4)),0,0,${STALL_MS}))`

const stack = useStack({
  workers: 2,
  env: { FANTAIL_LOG_LEVEL: 'debug' },
  workerEnv: () => ({ NODE_OPTIONS: `--import=${STALL}` }),
})
const receiver = useReceiver()
let resetting: Resetting
beforeAll(async () => {
  resetting = await startResetting()
})
afterAll(() => resetting.close())

const throttledTo = (rate: number, numRetries: number) => ({
  deliveryPolicy: { ...retries(numRetries), throttlePolicy: { maxReceivesPerSecond: rate } },
})

test(
  'a throttle holds where every delivery takes a request that is reset, or one that is challenged',
  async () => {
    const row = beginFault('throttles')
    const digest = answerNoncesOnce(receiver(), '/digest')
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'repeated',
      deadLetterQueue: 'repeated-dead',
      // If a reset or a challenge counted as an attempt, the delivery would become a dead letter.
      subscriptions: {
        '/resets': { endpoint: `${resetting.url}/`, ...throttledTo(RATE, 0) },
        '/digest': { endpoint: digest, ...throttledTo(RATE, 0) },
      },
      elsewhere: () => resetting.taken.map((text) => `/resets ${text}`),
    })
    await ledger.publishAtRate({ count: MESSAGES, perSecond: 500 })
    const { accepted, ...account } = await ledger.whenSettled({ timeoutMs: MESSAGES * 500 + 20_000 })
    const { lost, duplicates } = account
    row.report({ messages: accepted, lost, duplicates, recoverySeconds: null })
    expect(account).toMatchObject({ delivered: 2 * MESSAGES, deadLettered: 0, discarded: 0, duplicates: 0 })
    const sent = sendTimes(stack())
    const bySubscription = ledger.subscriptions.map(({ id }) => sent.get(id) ?? [])
    const received = [resetting.times.length, receiver().requestsTo('/digest').length]
    expect(bySubscription.map(({ length }) => length)).toEqual(received)
    // Most deliveries took two requests. Only the first one of a connection or nonce takes one.
    for (const times of bySubscription) expect(times.length).toBeGreaterThan(1.5 * MESSAGES)
    for (const times of bySubscription)
      expect(mostInWindow(times, 1_000)).toBeLessThanOrEqual(IN_A_SECOND_MAX)
  },
  MESSAGES * 500 + 30_000,
)

test(
  'a throttle holds while one of the workers stands still for a second, again and again',
  async () => {
    const row = beginFault('stalls')
    const slow = Array.from({ length: 10 }, (_, n) => [`/slow-${n}`, throttledTo(SLOW_RATE, 3)])
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'stalled',
      subscriptions: { '/fast': throttledTo(RATE, 3), ...Object.fromEntries(slow) },
    })
    const [stalled] = stack().workers
    const stalls = setInterval(() => stalled?.signal('SIGUSR2'), STALL_EVERY_MS)
    const count = MESSAGES / 8
    await ledger.publishAtRate({ count, perSecond: 500 })
    const { accepted, lost, duplicates } = await ledger
      .whenSettled({ timeoutMs: count * 4_000 + 20_000 })
      .finally(() => clearInterval(stalls))
    row.report({ messages: accepted, lost, duplicates, recoverySeconds: null })
    const sent = sendTimes(stack())
    for (const { id, path } of ledger.subscriptions) {
      const max = path === '/fast' ? IN_A_SECOND_MAX : SLOW_IN_A_SECOND_MAX
      const times = sent.get(id) ?? []
      expect(times.length).toBeGreaterThanOrEqual(count)
      expect(mostInWindow(times, 1_000)).toBeLessThanOrEqual(max)
    }
  },
  MESSAGES * 1_000 + 30_000,
)
