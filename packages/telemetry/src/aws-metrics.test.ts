import { afterEach, describe, expect, it } from 'vitest'
import { createMetrics, type QueueObservation } from './metrics.ts'
import { QueueCounter } from './queue-counter.ts'
import { startTelemetry, type Telemetry } from './telemetry.ts'

let telemetry: Telemetry | undefined
afterEach(async () => {
  await telemetry?.stop()
  telemetry = undefined
})

async function scrapeOf(metrics = createMetrics()) {
  telemetry = await startTelemetry({ service: 'test', metrics, env: {} })
  const text = await telemetry.renderMetrics()
  return text.split('\n').filter((line) => line.startsWith('aws_'))
}

const ARN = 'arn:aws:sqs:us-east-1:000000000000:work'

describe('the metrics of SNS', () => {
  it('are what is counted anyway, by the topic’s name', async () => {
    const metrics = createMetrics()
    const topic = 'orders'
    metrics.messagesPublished.of({ topic }).add(5)
    metrics.publishSizeBytes.of({ TopicName: topic }).record(300)
    metrics.deliveriesDelivered.of({ topic }).add(4)
    metrics.deliveryFailures.of({ topic }).add(3)
    metrics.deliveriesDeadLettered.of({ topic }).add(2)
    metrics.deadLettersRefused.of({ topic }).add()
    const lines = await scrapeOf(metrics)
    for (const line of [
      'aws_sns_number_of_messages_published_total{TopicName="orders"} 5',
      'aws_sns_publish_size_bytes_sum{TopicName="orders"} 300',
      'aws_sns_publish_size_bytes_bucket{TopicName="orders",le="1024"} 1',
      'aws_sns_number_of_notifications_delivered_total{TopicName="orders"} 4',
      'aws_sns_number_of_notifications_failed_total{TopicName="orders"} 3',
      'aws_sns_number_of_notifications_redriven_to_dlq_total{TopicName="orders"} 2',
      'aws_sns_number_of_notifications_failed_to_redrive_to_dlq_total{TopicName="orders"} 1',
    ])
      expect(lines).toContain(line)
  })

  it('[198] have each filtered message once as such, and once with its cause', async () => {
    const metrics = createMetrics()
    const filtered = (topic: string, cause: string) => metrics.deliveriesFilteredOut.of({ topic, cause })
    filtered('orders', 'MessageAttributes').add(2)
    filtered('orders', 'NoMessageAttributes').add(3)
    filtered('orders', 'InvalidAttributes').add(5)
    filtered('bills', 'MessageBody').add(7)
    filtered('bills', 'InvalidMessageBody').add(11)
    const prefix = 'aws_sns_number_of_notifications_filtered_out'
    expect((await scrapeOf(metrics)).filter((line) => line.startsWith(prefix))).toEqual([
      `${prefix}_total{TopicName="orders"} 10`,
      `${prefix}_total{TopicName="bills"} 18`,
      `${prefix}_message_attributes_total{TopicName="orders"} 2`,
      `${prefix}_message_body_total{TopicName="bills"} 7`,
      `${prefix}_invalid_attributes_total{TopicName="orders"} 5`,
      `${prefix}_no_message_attributes_total{TopicName="orders"} 3`,
      `${prefix}_invalid_message_body_total{TopicName="bills"} 11`,
    ])
  })
})

describe('the metrics of SQS', () => {
  it('count what is done to a queue by its name', async () => {
    const metrics = createMetrics()
    const counter = new QueueCounter(metrics)
    counter.sent(ARN, [10, 5_000])
    counter.sent(ARN, [20])
    counter.deduplicated(ARN, 4)
    counter.received(ARN, 5)
    counter.deleted(ARN, 6)
    counter.emptyReceive(ARN)
    const lines = await scrapeOf(metrics)
    for (const line of [
      'aws_sqs_number_of_messages_sent_total{QueueName="work"} 3',
      'aws_sqs_sent_message_size_bytes_count{QueueName="work"} 3',
      'aws_sqs_sent_message_size_bytes_sum{QueueName="work"} 5030',
      'aws_sqs_number_of_deduplicated_sent_messages_total{QueueName="work"} 4',
      'aws_sqs_number_of_messages_received_total{QueueName="work"} 5',
      'aws_sqs_number_of_messages_deleted_total{QueueName="work"} 6',
      'aws_sqs_number_of_empty_receives_total{QueueName="work"} 1',
    ])
      expect(lines).toContain(line)
  })

  it('show what is in queues now, of equal names the sum', async () => {
    const metrics = createMetrics()
    const queue = (set: Partial<QueueObservation>): QueueObservation => ({
      queue: 'work',
      visible: 0,
      inFlight: 0,
      delayed: 0,
      oldestSeconds: null,
      ...set,
    })
    metrics.observeQueues(async () => [
      queue({ visible: 1, inFlight: 2, delayed: 3, oldestSeconds: 60 }),
      queue({ visible: 10, oldestSeconds: 5 }),
      queue({ queue: 'w.fifo', groupsInFlight: 7 }),
      queue({
        queue: 'fair',
        visible: 9,
        groups: { noisy: 1, quietVisible: 2, quietInFlight: 3, quietOldestSeconds: 4 },
      }),
    ])
    const lines = await scrapeOf(metrics)
    const name = 'aws_sqs_approximate'
    for (const line of [
      `${name}_number_of_messages_visible{QueueName="work"} 11`,
      `${name}_number_of_messages_not_visible{QueueName="work"} 2`,
      `${name}_number_of_messages_delayed{QueueName="work"} 3`,
      `${name}_age_of_oldest_message_seconds{QueueName="work"} 60`,
      `${name}_number_of_groups_with_inflight_messages{QueueName="w.fifo"} 7`,
      `${name}_age_of_oldest_message_seconds{QueueName="w.fifo"} 0`,
      `${name}_number_of_noisy_groups{QueueName="fair"} 1`,
      `${name}_number_of_messages_visible_in_quiet_groups{QueueName="fair"} 2`,
      `${name}_number_of_messages_not_visible_in_quiet_groups{QueueName="fair"} 3`,
      `${name}_age_of_oldest_message_in_quiet_groups_seconds{QueueName="fair"} 4`,
    ])
      expect(lines).toContain(line)
    expect(lines.join()).not.toContain('inflight_messages{QueueName="work"}')
    expect(lines.join()).not.toContain('noisy_groups{QueueName="work"}')
  })

  it('are absent while their source fails, and lanes are shown all the same', async () => {
    const metrics = createMetrics()
    metrics.observeQueues(() => Promise.reject(new Error('no Redis')))
    const lane = {
      topic: 't',
      subscription: 's',
      waiting: 1,
      inFlight: 0,
      oldestSeconds: null,
      drainSeconds: null,
    }
    metrics.observeLanes(async () => [lane])
    await expect(metrics.refresh()).rejects.toThrow('no Redis')
    expect([...metrics.lanesWaiting.series()].map(({ value }) => value)).toEqual([1])
  })
})

it('none of them is shown, and no queue asked, where they are turned off', async () => {
  const metrics = createMetrics({ aws: false })
  let asked = false
  metrics.observeQueues(async () => {
    asked = true
    return []
  })
  new QueueCounter(metrics).sent(ARN, [1])
  metrics.messagesPublished.of({ topic: 'orders' }).add()
  expect(await scrapeOf(metrics)).toEqual([])
  expect(asked).toBe(false)
})
