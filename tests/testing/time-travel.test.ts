/** Time travel on one whole stack: each kind of clock moves, and what became due on the way is done. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getStats } from '@fantail/client/api'
import { createRedriveService } from '@fantail/redrive'
import { createLogger } from '@fantail/runtime'
import { type FantailStack, type Receiver, startFantail, startReceiver } from '@fantail/testing'
import '@fantail/testing/vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

const CURVE = {
  deliveryPolicy: {
    healthyRetryPolicy: {
      numRetries: 5,
      numNoDelayRetries: 1,
      minDelayTarget: 20,
      maxDelayTarget: 600,
      backoffFunction: 'exponential' as const,
    },
  },
}

const RETENTION_MINUTES = 4 * 24 * 60
const DAY_MS = 86_400_000

const minutesAfter = (from = '', to = '') => Math.floor((Date.parse(to) - Date.parse(from)) / 60_000)

describe.runIf(HAS_REDIS)('a stack whose time is moved', () => {
  let fantail: FantailStack
  let receiver: Receiver
  let provider: Receiver
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fantail-stream-'))
    provider = await startReceiver()
    const env = {
      FANTAIL_SMS_URL: provider.on('/texts').url,
      FANTAIL_SMS_COUNTRIES: '+1=0.6',
      FANTAIL_SMS_DAY_USD: '1',
      FANTAIL_SMS_MONTH_USD: '10',
      FANTAIL_STREAMS: JSON.stringify({ '*': `${pathToFileURL(folder)}?seconds=300` }),
    }
    fantail = await startFantail({ ...stackOptions(), env })
    receiver = await fantail.receiver()
  })
  afterAll(async () => {
    await fantail.stop()
    await provider.close()
    await rm(folder, { recursive: true })
  })

  /** Seconds of the stack between the first request of the path and each. */
  const secondsOf = (path: string, at = receiver) => {
    const times = at.on(path).requests.map((request) => fantail.timeOf(request.at).getTime())
    return times.map((time) => Math.round((time - (times[0] ?? 0)) / 1_000))
  }

  /** How many messages the topic took within the range, by the statistics. */
  const publishedIn = async (range: '15m' | '7d', topic: string) => {
    const { published } = await getStats({ client: fantail.client.client, query: { range, topic } })
    return (published ?? []).reduce((sum, count) => sum + count, 0)
  }

  test('every retry of a curve comes at its time, then the dead letter', async () => {
    receiver.on('/curve').reply(503)
    await fantail.subscribe('curve', receiver.on('/curve'), CURVE)
    const { messageId } = await fantail.publish('curve', { order: 7 })
    const begin = fantail.now().getTime()
    const { time, due } = await fantail.advance('2h')
    expect(time.getTime() - begin).toBeGreaterThanOrEqual(7_200_000)
    expect(due.filter((what) => what.startsWith('lane')).length).toBeGreaterThanOrEqual(4)
    const seconds = secondsOf('/curve')
    expect(seconds).toHaveLength(6)
    expect(seconds[1]).toBe(0)
    expect(seconds[2]).toBe(20)
    expect(seconds.at(-1)).toBeGreaterThan(600)
    const [delivery] = await fantail.waitUntilDeadLettered(messageId)
    expect(Date.parse(delivery?.endedAt ?? '')).toBeLessThan(begin + 3_600_000)
    await fantail.nothingElse()
  })

  test('a throttle spreads deliveries over the hour', async () => {
    const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: 0.1 } }
    await fantail.subscribe('throttled', receiver.on('/throttled'), { deliveryPolicy })
    for (let order = 0; order < 6; order++) await fantail.publish('throttled', { order })
    await fantail.advance('1m')
    expect(receiver.on('/throttled')).toHaveReceived({ times: 6, atSeconds: [0, 10, 20, 30, 40, 50] })
    const early = { atSeconds: [0, 10, 20, 30, 40, 48.5] }
    expect(() => expect(receiver.on('/throttled')).toHaveReceived(early)).toThrow(/ at 0\.\d, \d+\.\d, .* s:/)
    expect(receiver.on('/throttled')).toHaveReceived({ ...early, toleranceSeconds: 3 })
  })

  test('delays, visibility timeouts and deduplication of queues pass', async () => {
    const queue = fantail.client.queues('work.fifo')
    await queue.create({ visibilityTimeoutSeconds: 30 })
    const send = () => queue.send('once', { groupId: 'a', deduplicationId: 'one' })
    await send()
    const [first] = await queue.receive()
    expect(await queue.receive()).toEqual([])
    await fantail.advance('31s')
    const [second] = await queue.receive()
    expect([second?.messageId, second?.receiveCount]).toEqual([first?.messageId, 2])
    await queue.acknowledge([second?.receiptHandle ?? ''])
    await send()
    expect(await queue.receive()).toEqual([])
    await fantail.advance('5m')
    await send()
    expect(await queue.receive()).toHaveLength(1)

    const delayed = fantail.client.queues('delayed')
    await delayed.create()
    await delayed.send('later', { delaySeconds: 600 })
    const waiting = delayed.receive({ waitSeconds: 20 })
    await fantail.advance('10m')
    expect(await waiting).toMatchObject([{ body: 'later' }])
  })

  test('a push consumer tries again, and only the lease of a queue that is used goes on', async () => {
    receiver.on('/pushed').reply(500).times(2).then(200)
    await fantail.client.queues('pushed').create({ visibilityTimeoutSeconds: 60 })
    await fetch(`${fantail.url}/v1/queues/pushed/consumers/hook`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: receiver.on('/pushed').url }),
    })
    await fantail.client.queues('pushed').send('job')
    const [idle, used] = [fantail.client.queues('idle'), fantail.client.queues('used')]
    await Promise.all([idle.create({ leaseSeconds: 60 }), used.create({ leaseSeconds: 60 })])
    const waiting = used.receive({ waitSeconds: 20 })
    await fantail.advance('5m')
    expect(receiver.on('/pushed').requests).toHaveLength(3)
    await expect(idle.get()).rejects.toMatchObject({ code: 'not_found' })
    await used.send('reply')
    expect(await waiting).toMatchObject([{ body: 'reply' }])
  })

  test('an idempotency key counts for a day', async () => {
    await fantail.subscribe('idempotent', receiver.on('/idempotent'))
    const publish = async () =>
      (await fantail.publish('idempotent', { a: 1 }, { idempotencyKey: 'k' })).messageId
    const first = await publish()
    await fantail.advance('23h')
    expect(await publish()).toBe(first)
    await fantail.advance('2h')
    expect(await publish()).not.toBe(first)
  })

  test('a broken credential is probed, what text messages cost counts for a day, and a stream is gathered', async () => {
    // The cost of text messages is counted by days in UTC, so the day must not end in between.
    await fantail.advance(DAY_MS - (fantail.now().getTime() % DAY_MS))
    provider.on('/texts').reply(401).times(2).then(200)
    await fantail.subscribe('texts', '+15550100')
    await fantail.subscribe('stream', 'arn:aws:firehose:us-east-1:000000000000:deliverystream/records')
    const texts = await fantail.publish('texts', 'first')
    const record = await fantail.publish('stream', { a: 1 })
    await fantail.advance('10m')
    await fantail.waitUntilDelivered(texts.messageId)
    await fantail.waitUntilDelivered(record.messageId)
    const [, probe, works] = secondsOf('/texts', provider)
    expect(probe).toBeGreaterThanOrEqual(60)
    expect(works).toBeGreaterThanOrEqual((probe ?? 0) + 60)

    const [refused] = await fantail.waitUntilDeadLettered(
      (await fantail.publish('texts', 'second')).messageId,
    )
    expect(refused?.lastError).toBe('spend_exceeded')
    await fantail.advance('1d')
    await fantail.waitUntilDelivered((await fantail.publish('texts', 'third')).messageId)
  })

  test('tokens of confirmations, deduplication of topics, statistics and retention of queues pass', async () => {
    const { id } = await fantail.subscribe('asked', receiver.on('/asked'), { confirmation: 'handshake' })
    await fantail.subscribe('ordered.fifo', receiver.on('/ordered'))
    const publish = () => fantail.publish('ordered.fifo', 'once', { groupId: 'a', deduplicationId: 'one' })
    await publish()
    await fantail.advance('4m')
    await publish()
    const short = fantail.client.queues('short')
    await short.create({ retentionSeconds: 60 })
    await short.send('gone')
    await fantail.advance('2m')
    await publish()
    await fantail.advance('20m')
    expect(receiver.on('/ordered').requests).toHaveLength(2)
    expect(await short.receive()).toEqual([])
    // The message of the first test was written into the statistics within 5 s.
    await expect.poll(() => publishedIn('7d', 'curve'), { timeout: 20_000 }).toBe(1)
    expect(await publishedIn('15m', 'curve')).toBe(0)
    expect((await fantail.client.subscriptions(id).get()).status).toBe('pending')
    await fantail.advance('2d')
    await expect(fantail.client.subscriptions(id).get()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a circuit is probed, a paused lane expires, and a redrive keeps its rate', async () => {
    const path = receiver.on('/circuit')
    path.reply(503).times(4).then(200)
    await fantail.subscribe('circuit', path, {
      circuitBreaker: { failures: 3, probeSeconds: 300 },
      deliveryPolicy: { healthyRetryPolicy: { numRetries: 10, minDelayTarget: 10, maxDelayTarget: 10 } },
    })
    const { messageId } = await fantail.publish('circuit', { a: 1 })
    await fantail.advance('30m')
    await fantail.waitUntilDelivered(messageId)
    const seconds = secondsOf('/circuit')
    expect(seconds).toHaveLength(5)
    expect((seconds.at(-1) ?? 0) - (seconds.at(-2) ?? 0)).toBeGreaterThanOrEqual(299)

    const { id } = await fantail.subscribe('paused', receiver.on('/paused'))
    await fantail.client.subscriptions(id).pause()
    const ids: string[] = []
    for (let order = 0; order < 5; order++) ids.push((await fantail.publish('paused', { order })).messageId)
    // Else a step of six hours, the longest one, would end just when the deliveries expire.
    await fantail.advance('90m')
    await fantail.advance('15d')
    const letters = await fantail.waitForDeadLetters('paused-dead-letters', { count: 5 })
    expect(letters.map(({ deadLetter }) => deadLetter?.reason)).toEqual(Array(5).fill('expired'))
    // A sweep finds an expired delivery within a minute, as with a real clock.
    const minutesLate = letters.map(({ deadLetter }) =>
      minutesAfter(deadLetter?.publishedAt, deadLetter?.deadLetteredAt),
    )
    for (const minutes of minutesLate) expect(minutes - RETENTION_MINUTES).toBeOneOf([0, 1])

    await fantail.client.subscriptions(id).resume()
    await fantail.client.redrives.start({ source: 'paused-dead-letters', maxMessagesPerSecond: 1 })
    await fantail.advance('1m')
    expect(receiver.on('/paused').requests).toHaveLength(5)
    expect(secondsOf('/paused').at(-1)).toBeGreaterThanOrEqual(3)
  })

  test.each(['local', 'server'] as const)('%s mode without the setting refuses its data', async (mode) => {
    const log = createLogger({ service: 'test', level: 'silent' })
    const travel = { mode, timeTravel: 'off' } as const
    const service = createRedriveService({ redisUrl: fantail.redisUrl, log, travel })
    await expect(service.start()).rejects.toThrow(/must not use it/)
    await service.stop()
  })

  test('work that is still under way ends the wait with its name', async () => {
    receiver.on('/hangs').hang()
    await fantail.subscribe('hangs', receiver.on('/hangs'))
    await fantail.publish('hangs', { a: 1 })
    await receiver.on('/hangs').waitForRequests(1)
    await expect(fantail.advance('1h', { timeoutMs: 200 })).rejects.toThrow(/under way: 1 attempts/)
  })
})
