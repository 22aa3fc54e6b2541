import { placeOfSubscription } from '@fantail/store'
import { startCountingProxy, waitFor } from '@fantail/test-kit'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createFakeSender, createFixture, urlOf } from '../fixtures/worker.fixture.ts'

const fixture = await createFixture()
beforeEach(() => fixture.reset())
afterAll(() => fixture.stop())

interface Write {
  everyMs: number
  /** How many such writes occur at that time; default: 1. */
  times?: number
  commands: string[]
}

/** Read once, at the start: the key of links that unsubscribe. */
const STARTING = ['script(1) ft:{mail}:']
/**
 * All periodic commands of an idle worker, as writes to Redis. A new read must go into a write that is listed here, if
 * possible into the write of each second. `{}` stands for any shard, and `script(n)` for a script with n arguments.
 */
const WRITES: Write[] = [
  {
    everyMs: 1_000,
    commands: [
      'script(0) ft:{}:',
      'hgetall ft:{hints}:busy',
      'llen ft:{dispatch-0}:dispatch-0:active',
      'zcard ft:{dispatch-0}:dispatch-0:failed',
      // Every 10 s: the search for surplus dispatch queues.
      'exists ft:{dispatch-n}:dispatch-n:wait',
      // Every 60 s, instead of the hints.
      'zrange ft:{}:due',
      'zrange ft:{}:unproven',
    ],
  },
  // BullMQ waits 8 s for a job on one connection, and fetches one on another.
  { everyMs: 8_000, commands: ['bzpopmin ft:{dispatch-0}:dispatch-0:marker'] },
  {
    everyMs: 8_000,
    commands: ['script(3) ft:{dispatch-0}:dispatch-0:wait', 'script(4) ft:{dispatch-0}:dispatch-0:stalled'],
  },
  { everyMs: 10_000, commands: ['ping'] },
  { everyMs: 60_000, commands: ['exists ft:{}:consuming'] },
  // The sweep: the role, the shards in use, and three indexes of each.
  { everyMs: 60_000, commands: ['script(1) ft:{leader}:retention-sweep'] },
  { everyMs: 60_000, commands: ['exists ft:{}:due'] },
  { everyMs: 60_000, times: 3, commands: ['script(5) ft:{}:'] },
  { everyMs: Number.POSITIVE_INFINITY, commands: STARTING },
]
const CONNECTING = /^(hello|client|info|subscribe)\b/
/** The counted time may begin and end so that one write of a kind is missing or too many. */
const SPARE = 2
const TICKS = 6
const TRIPS_PER_SECOND_MAX = 1.6

test('an idle worker with lanes asks Redis for what is listed, and for nothing else', async () => {
  await leaveLanesWaiting()
  const writes: string[][] = []
  const proxy = await startCountingProxy(fixture.server.port, (commands) => {
    writes.push([...new Set(commands.map(nameOf))])
  })
  const startedAt = performance.now()
  const worker = await fixture.startWorker(createFakeSender(), { redisUrl: proxy.url })
  const isTick = (names: string[]) => names.includes('hgetall ft:{hints}:busy')
  await waitFor(() => writes.filter(isTick).length === TICKS)
  const elapsedMs = performance.now() - startedAt
  const seen = [...writes]
  await worker.stop()
  proxy.stop()
  const listed = new Set(WRITES.flatMap(({ commands }) => commands))
  const isListed = (name: string) => listed.has(name) || CONNECTING.test(name)
  expect(seen.flat().filter((name) => !isListed(name))).toEqual([])
  for (const { everyMs, times = 1, commands } of WRITES) {
    const count = seen.filter((names) => names.some((name) => commands.includes(name))).length
    expect(count, commands.join(', ')).toBeLessThanOrEqual((SPARE + elapsedMs / everyMs) * times)
  }
})

test('the listed commands add up to so few round trips a second', () => {
  const perSecond = WRITES.reduce((sum, { everyMs, times = 1 }) => sum + (times * 1_000) / everyMs, 0)
  expect(perSecond).toBeLessThan(TRIPS_PER_SECOND_MAX)
})

/** Leaves one paused lane, and one whose retry is due in an hour. */
async function leaveLanesWaiting(): Promise<void> {
  const healthyRetryPolicy = { minDelayTarget: 3_600, maxDelayTarget: 3_600, numRetries: 3 }
  const paused = await fixture.subscribe('paused')
  await fixture.subscriptions.update(paused.id, () => ({ status: 'paused' }))
  const failing = await fixture.subscribe('failing', { deliveryPolicy: { healthyRetryPolicy } })
  const sender = createFakeSender()
  sender.answer = (url) => (url === urlOf('failing') ? 503 : 200)
  const worker = await fixture.startWorker(sender)
  await fixture.publish('waits')
  await waitFor(async () => {
    const lanes = [paused, failing].map(({ id }) => ({
      subscriptionId: id,
      shard: placeOfSubscription(id)?.shard ?? 0,
    }))
    const figures = await fixture.lanes.figures(lanes)
    return figures.every(({ waiting, inFlight }) => waiting === 1 && inFlight === 0)
  })
  await worker.stop()
  // Without this key the next worker gets the role at once.
  await fixture.redis.del('ft:{leader}:retention-sweep')
}

function nameOf([name = '', ...args]: string[]): string {
  const isScript = /^eval/i.test(name)
  const [, keyCount = '', firstKey = ''] = isScript ? args : ['', '', args[0]]
  const key = firstKey
    .replace(/\{[0-9a-z]{1,3}\}/, '{}')
    .replace(/\{dispatch-[1-9]\w*\}:dispatch-\d+/, '{dispatch-n}:dispatch-n')
  const called = isScript ? `script(${args.length - 2 - Number(keyCount)})` : name.toLowerCase()
  return `${called} ${key}`.trim()
}
