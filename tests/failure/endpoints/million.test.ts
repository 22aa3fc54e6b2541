/**
 * A million messages through API, worker and redrive, while the worker is killed and Redis is down. All must arrive.
 * The memory of each process and of Redis must stay what it was after the first tenth.
 */
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beginFault, LONG, secondsSince } from '../../harness/ledgers/fault-rows.ts'
import { median } from '../../harness/ledgers/figures.ts'
import { type CountingReceiver, startCountingReceiver } from '../../harness/receivers/counting-receiver.ts'
import { redisFigure, residentBytes } from '../../harness/services/process-figures.ts'
import { useStack } from '../../harness/services/stack.ts'

const MESSAGES = LONG ? 1_000_000 : 6_000
const BATCH = 50
const PUBLISHERS = 8
const PADDING = 'x'.repeat(200)
/**
 * The worker is killed, Redis is killed and down for a second, and both again, each after this share of the messages.
 */
const FAULTS_AT = [0.2, 0.4, 0.6, 0.8]
const AWAY_MS = 1_000
/** Publishing may be ahead of the deliveries by at most this many messages, so that each fault meets publishes. */
const AHEAD_MAX = LONG ? 20_000 : 1_000
const SAMPLE_MS = 250
const GROWTH_FACTOR = 1.3
const GROWTH_BYTES = 40 * 1_048_576
/** The memory of a process that has just started is below this. The short form ends before the process is warm. */
const SMALL_BYTES = 448 * 1_048_576
/** How much Redis may grow. The outcome log (FANTAIL_LOG_MESSAGES) is full by then. */
const REDIS_GROWTH_BYTES = 8 * 1_048_576
const RUN_MS = LONG ? 1_500_000 : 120_000

const stack = useStack({
  workers: 1,
  redrive: true,
  redis: { appendfsync: 'everysec' },
  env: { FANTAIL_LOG_MESSAGES: '1000', FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' },
})
let receiver: CountingReceiver
beforeAll(async () => {
  receiver = await startCountingReceiver(MESSAGES)
})
afterAll(() => receiver.close())

test(
  'memory is flat over a million messages with faults on, and all of them arrive',
  async () => {
    const row = beginFault('million')
    const { client } = stack()
    await client.put('/v1/topics/million')
    await client.post('/v1/topics/million/subscriptions', {
      endpoint: receiver.url,
      rawMessageDelivery: true,
    })
    const sampler = sampleMemory()
    let next = 0
    const publishing = Promise.all(
      Array.from({ length: PUBLISHERS }, async () => {
        while (next < MESSAGES) {
          const first = next
          next += BATCH
          await waitFor(() => first - receiver.firsts() < AHEAD_MAX, { timeoutMs: RUN_MS, intervalMs: 5 })
          await publishUntilAccepted(first)
        }
      }),
    )
    const recoverySeconds = await breakThings(() => receiver.firsts() / MESSAGES)
    await publishing
    await waitFor(() => receiver.firsts() === MESSAGES, {
      timeoutMs: 90_000,
      intervalMs: 100,
      what: 'all to arrive',
    })
    const memory = sampler.stop()
    const numbers = Array.from({ length: MESSAGES }, (_, number) => receiver.times(number))
    const duplicates = numbers.reduce((sum, times) => sum + Math.max(0, times - 1), 0)
    row.report({ messages: MESSAGES, lost: MESSAGES - receiver.firsts(), duplicates, recoverySeconds })
    console.info(JSON.stringify(memory))
    for (const [what, { early, late }] of Object.entries(memory)) {
      const slack = what === 'redis' ? REDIS_GROWTH_BYTES : GROWTH_BYTES
      const most = Math.max(early * GROWTH_FACTOR + slack, LONG ? 0 : SMALL_BYTES)
      expect([what, late <= most, early, late]).toEqual([what, true, early, late])
    }
  },
  RUN_MS + 120_000,
)

/** A batch of which nobody knows whether it was stored is sent again with its key, so it is stored once. */
async function publishUntilAccepted(first: number): Promise<void> {
  const size = Math.min(BATCH, MESSAGES - first)
  const messages = Array.from({ length: size }, (_, i) => ({ message: `${first + i} ${PADDING}` }))
  const headers = { 'idempotency-key': `from-${first}` }
  const path = '/v1/topics/million/messages'
  const isAccepted = async () => {
    const answer = await stack()
      .client.call('POST', path, { body: { messages }, headers })
      .catch(() => undefined)
    return answer?.status === 202
  }
  await waitFor(isAccepted, { what: 'a batch to be accepted', timeoutMs: 60_000, intervalMs: 50 })
}

/** The longest time in seconds without an arrival after a fault. */
async function breakThings(share: () => number): Promise<number> {
  let longest = 0
  for (const [number, at] of FAULTS_AT.entries()) {
    await waitFor(() => share() >= at, { timeoutMs: RUN_MS, intervalMs: 20 })
    if (number % 2 === 0) await stack().worker(0).restart()
    else {
      await stack().redis.kill()
      const killedAt = performance.now()
      await waitFor(() => performance.now() - killedAt >= AWAY_MS)
      await stack().redis.restart()
    }
    const [endedAt, before] = [performance.now(), receiver.firsts()]
    await waitFor(() => receiver.firsts() > before + BATCH || receiver.firsts() === MESSAGES, {
      timeoutMs: 30_000,
    })
    longest = Math.max(longest, secondsSince(endedAt))
  }
  return longest
}

interface Grown {
  /** Medians of the second and of the last tenth of all samples, in bytes. */
  early: number
  late: number
}

/** Samples each service and Redis at equal intervals. */
function sampleMemory(): { stop(): Record<string, Grown> } {
  const samples = new Map<string, number[]>()
  const note = (name: string, bytes: number) => {
    if (bytes > 0) samples.set(name, [...(samples.get(name) ?? []), bytes])
  }
  const timer = setInterval(() => {
    for (const service of stack().services()) note(service.label, residentBytes(service.pid))
    redisFigure(stack().connection, 'memory', 'used_memory').then(
      (bytes) => note('redis', bytes),
      () => undefined, // It is away.
    )
  }, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      const grown = [...samples].map(([name, bytes]) => {
        const tenth = Math.ceil(bytes.length / 10)
        return [name, { early: median(bytes.slice(tenth, 2 * tenth)), late: median(bytes.slice(-tenth)) }]
      })
      return Object.fromEntries(grown) as Record<string, Grown>
    },
  }
}
