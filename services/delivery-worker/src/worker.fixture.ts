/** A delivery worker on a Redis of its own, with a sender that answers as the test says. */

import type { AttemptResult } from '@fantail/contracts'
import { createMessageId, type Message, type SubscriptionRecord } from '@fantail/contracts'
import type { HttpSender } from '@fantail/delivery'
import { createPublisher } from '@fantail/jobs'
import { createLogger } from '@fantail/runtime'
import {
  Counts,
  connect,
  Lanes,
  type NewSubscription,
  OutcomeLog,
  Plans,
  Queues,
  Subscriptions,
  Topics,
  whenReady,
} from '@fantail/store'
import { createMetrics, type LogRecords, type Metrics, NO_LOG_RECORDS, NO_SPANS } from '@fantail/telemetry'
import { startRedis, type TestRedisOptions, waitFor } from '@fantail/test-kit'
import { afterAll, beforeEach } from 'vitest'
import { createDeliveryWorker, type DeliveryWorker, type DeliveryWorkerOptions } from './delivery-worker.ts'

export const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
export const DLQ = 'arn:aws:sqs:us-east-1:000000000000:dead'

export interface Sent {
  url: string
  messageId: string
  headers: Record<string, string>
  body: string
  at: number
}

export type Answer = number | 'hang' | AttemptResult | Promise<number>

export interface FakeSender extends Pick<HttpSender, 'send' | 'openAhead' | 'close'> {
  sent: Sent[]
  /** By URL; default 200. `n` counts requests to that URL, from 1. */
  answer: (url: string, n: number) => Answer
  inFlight: Map<string, number>
  inFlightMax: Map<string, number>
}

/** Attempts that hang end with a timeout after `timeoutMs`, as the real sender's do. */
export function createFakeSender(timeoutMs = 3_000): FakeSender {
  const sender: FakeSender = {
    sent: [],
    answer: () => 200,
    inFlight: new Map(),
    inFlightMax: new Map(),
    openAhead: () => undefined,
    close: async () => undefined,
    send: ({ url, headers, body }, done) => {
      const list = headers as string[]
      const messageId = list[list.indexOf('x-amz-sns-message-id') + 1] ?? ''
      const startedAt = performance.now()
      sender.sent.push({ url, messageId, headers: byName(list), body: String(body), at: startedAt })
      const now = (sender.inFlight.get(url) ?? 0) + 1
      sender.inFlight.set(url, now)
      sender.inFlightMax.set(url, Math.max(now, sender.inFlightMax.get(url) ?? 0))
      const n = sender.sent.filter((sent) => sent.url === url).length
      void resultOf(sender.answer(url, n), timeoutMs).then((result) => {
        sender.inFlight.set(url, (sender.inFlight.get(url) ?? 1) - 1)
        done({ ...result, durationMs: performance.now() - startedAt })
      })
    },
  }
  return sender
}

function byName(list: string[]): Record<string, string> {
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : [])))
}

async function resultOf(answer: Answer, timeoutMs: number): Promise<AttemptResult> {
  if (answer === 'hang') {
    await new Promise((resolve) => setTimeout(resolve, timeoutMs))
    return { kind: 'failure', error: 'timeout', detail: 'no answer', durationMs: timeoutMs, permanent: false }
  }
  const settled = await answer
  if (typeof settled !== 'number') return settled
  return { kind: 'response', statusCode: settled, durationMs: 1 }
}

export async function createFixture(redisOptions: TestRedisOptions = {}) {
  const server = await startRedis(redisOptions)
  const redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  const publisher = createPublisher({ url: server.url, queues: 1, minReplicas: 0 })
  await waitFor(() => publisher.ready)
  const lanes = new Lanes(redis)
  const plans = new Plans(redis)
  const topics = new Topics(redis)
  const subscriptions = new Subscriptions(redis)
  const workers: DeliveryWorker[] = []
  return {
    server,
    redis,
    publisher,
    lanes,
    topics,
    subscriptions,
    queues: new Queues(redis),
    counts: new Counts(redis),
    outcomes: new OutcomeLog(redis, plans, lanes, { queues: 1, entriesMax: 10_000 }),
    async startWorker(sender: DeliveryWorkerOptions['sender'], options: Partial<DeliveryWorkerOptions> = {}) {
      const worker = createDeliveryWorker({
        redisUrl: server.url,
        queues: 1,
        attemptsMax: 200,
        attemptTimeoutMs: 3_000,
        retryJitter: 0,
        maxRetrySeconds: 3_600,
        logMessages: 10_000,
        publicUrl: 'http://localhost:4100',
        sender,
        telemetry: telemetryWith(createMetrics()),
        log: createLogger({ service: 'test', level: process.env.FANTAIL_LOG_LEVEL ?? 'silent' }),
        ...options,
      })
      workers.push(worker)
      await worker.start()
      return worker
    },
    subscribe: (name: string, set: Partial<NewSubscription> = {}) => subscribe(subscriptions, name, set),
    async publish(text: string, set: Partial<Message> = {}): Promise<string> {
      const message = { ...createMessage(text, TOPIC), ...set }
      await publisher.publish([message], { bytes: 300, fanOut: 1 })
      return message.messageId
    },
    async publishAll(texts: string[]): Promise<string[]> {
      const messages = texts.map((text) => createMessage(text, TOPIC))
      await publisher.publish(messages, { bytes: 300 * texts.length, fanOut: 1 })
      return messages.map((message) => message.messageId)
    },
    async stop() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()))
      await publisher.close()
      redis.disconnect()
      await server.stop()
    },
    async reset() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()))
      await redis.flushall()
      await topics.put(TOPIC, {})
    },
  }
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>

/** One for a test file: emptied before each of its tests, stopped after the last. */
export async function useFixture(): Promise<Fixture> {
  const fixture = await createFixture()
  beforeEach(() => fixture.reset())
  afterAll(() => fixture.stop())
  return fixture
}

/** What a worker tells, as far as a test listens. */
export const telemetryWith = (metrics: Metrics, logs: LogRecords = NO_LOG_RECORDS) => ({
  metrics,
  spans: NO_SPANS,
  logs,
})

export function createMessage(text: string, topicArn: string): Message {
  const publishedAt = Date.now()
  return { messageId: createMessageId(publishedAt), topicArn, publishedAt, message: text }
}

export const urlOf = (name: string) => `http://${name}.example/hook`

async function subscribe(
  subscriptions: Subscriptions,
  name: string,
  set: Partial<NewSubscription>,
): Promise<SubscriptionRecord> {
  const { subscription } = await subscriptions.create({
    topicArn: TOPIC,
    protocol: 'http',
    endpoint: urlOf(name),
    rawMessageDelivery: true,
    deliveryPolicy: null,
    redrivePolicy: null,
    maxInFlight: 32,
    confirmation: 'none',
    attributes: {},
    ...set,
  })
  return subscription
}
