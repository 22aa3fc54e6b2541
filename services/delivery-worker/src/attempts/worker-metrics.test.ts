import type { AttemptResult } from '@fantail/contracts'
import { createMetrics } from '@fantail/telemetry'
import { expect, test } from 'vitest'
import { fakeStats } from '../fixtures/stats.fixture.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

const NO_MESSAGE = { message: { publishedAt: 0 } } as MessageContext
const subscription = (id: string, protocol = 'http') =>
  ({
    topicName: 'orders',
    record: { id, protocol, topicArn: 'arn:aws:sns:us-east-1:000000000000:orders' },
    policy: { healthyRetryPolicy: {} },
  }) as CompiledSubscription

function startCounting() {
  const metrics = createMetrics()
  const stats = fakeStats()
  const counted = createWorkerMetrics(metrics, () => 0, stats.counter)
  const attempt = (id: string, statusCode: number, protocol?: string) => {
    const result: AttemptResult = { kind: 'response', statusCode, durationMs: 1 }
    const outcome = { result, followersSent: 0, answeredAfterMs: 1 }
    counted.attempted(subscription(id, protocol), NO_MESSAGE, outcome, 1)
  }
  const failed = (id: string) =>
    metrics.subscriptionDeliveryFailures.of({ topic: 'orders', subscription: id }).value
  return { metrics, counted, attempt, failed, stats }
}

test('failed attempts count for their topic and for their subscription', () => {
  const { metrics, counted, attempt, failed } = startCounting()
  for (const status of [500, 404, 204]) attempt('a', status)
  attempt('b', 503)
  expect([failed('a'), failed('b')]).toEqual([2, 1])
  expect(metrics.deliveryFailures.of({ topic: 'orders' }).value).toBe(3)
  counted.ended(subscription('queue', 'sqs'), NO_MESSAGE, 'discarded', 'permanent')
  expect(failed('queue')).toBe(1)
  expect(metrics.deliveryFailures.of({ topic: 'orders' }).value).toBe(4)
})

test('subscriptions past the bound share one series', () => {
  const { metrics, attempt, failed } = startCounting()
  for (let i = 0; i < 1_100; i++) attempt(`s${i}`, 500)
  attempt('s0', 500)
  const all = [...metrics.subscriptionDeliveryFailures.series()]
  expect(all).toHaveLength(1_001)
  expect(
    all.filter(({ labels }) => labels.otel_metric_overflow === 'true').map(({ value }) => value),
  ).toEqual([100])
  expect([failed('s0'), failed('s999')]).toEqual([2, 1])
})

test('the same is counted as statistics of the topic, the subscription and the account', async () => {
  const { counted, attempt, stats } = startCounting()
  for (const status of [500, 204]) attempt('a', status)
  counted.delivered(subscription('a'), NO_MESSAGE)
  counted.ended(subscription('a'), NO_MESSAGE, 'delivered', null)
  counted.ended(subscription('b'), NO_MESSAGE, 'deadLettered', 'permanent')
  await stats.counter.stop()
  const ofAll = [0, 2, 1, 1, 0, 2]
  expect(
    Object.fromEntries(stats.flushed.map(({ kind, name, counts }) => [`${kind} ${name}`, counts])),
  ).toEqual({
    't arn:aws:sns:us-east-1:000000000000:orders': ofAll,
    'a 000000000000': ofAll,
    's a': [0, 2, 1, 0, 0, 2],
    's b': [0, 0, 0, 1],
    // The figures of a week: deliveries, failed attempts, dead letters, milliseconds to arrival.
    'w a': [2, 1, 0, 1],
    'w b': [0, 0, 1, 0],
  })
})
