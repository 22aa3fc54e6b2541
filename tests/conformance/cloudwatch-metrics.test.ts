/** The metrics of SNS and SQS in the scrapes of every service. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
const AT_ONCE = retries(2, { numNoDelayRetries: 2 })

/** The sum over all services, or 0 if no service has such a series. */
async function metric(name: string, labels: Record<string, string>): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const texts = await Promise.all(
    stack()
      .services()
      .map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  )
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(`${name}{`))
  const found = lines.filter((line) => wanted.every((label) => line.includes(label)))
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

const ofTopic = (field: string, TopicName: string) => metric(`aws_sns_${field}`, { TopicName })
const ofQueue = (field: string, QueueName: string) => metric(`aws_sqs_${field}`, { QueueName })
const visibleIn = async (queue: string) =>
  (await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)).counts.visible

test('[197] a webhook’s failed attempts are counted each, a queue’s delivery once', async () => {
  const { client } = stack()
  receiver().respond('/failing', { status: 503 })
  await subscribe(stack(), 'web', { endpoint: `${receiver().url}/failing`, deliveryPolicy: AT_ONCE })
  const queue = 'arn:aws:sqs:us-east-1:000000000000:short-lived'
  await client.put('/v1/queues/short-lived')
  await subscribe(stack(), 'queued', { endpoint: queue })
  await client.delete('/v1/queues/short-lived')
  await publish(stack(), 'web', 'x')
  await publish(stack(), 'queued', 'x')
  await waitFor(async () => (await ofTopic('number_of_notifications_failed_total', 'web')) === 3)
  await waitFor(async () => (await ofTopic('number_of_notifications_failed_total', 'queued')) === 1)
  expect(await ofTopic('number_of_notifications_failed_total', 'web')).toBe(3)
  expect(await ofTopic('number_of_messages_published_total', 'web')).toBe(1)
  expect(await ofTopic('publish_size_bytes_sum', 'web')).toBe(1)
})

test('[201] dead letters of subscriptions count as sent, what maxReceiveCount moves does not', async () => {
  const { client } = stack()
  for (const name of ['sns-dead', 'sqs-dead']) await client.put(`/v1/queues/${name}`)
  const redrivePolicy = { deadLetterTargetArn: 'sqs-dead', maxReceiveCount: 1 }
  await client.put('/v1/queues/work', { redrivePolicy, visibilityTimeoutSeconds: 0 })
  receiver().respond('/refusing', { status: 404 })
  const input = { endpoint: `${receiver().url}/refusing`, redrivePolicy: { deadLetterTargetArn: 'sns-dead' } }
  await subscribe(stack(), 'dying', input)
  await subscribe(stack(), 'dying', { endpoint: 'arn:aws:sqs:us-east-1:000000000000:work' })
  await publish(stack(), 'dying', 'grüße')
  await waitFor(async () => (await visibleIn('sns-dead')) === 1 && (await visibleIn('work')) === 1)
  for (let i = 0; i < 2; i++) await client.post('/v1/queues/work/receive', {})
  await waitFor(async () => (await visibleIn('sqs-dead')) === 1)
  const sent = 'number_of_messages_sent_total'
  expect([
    await ofQueue(sent, 'sns-dead'),
    await ofQueue(sent, 'work'),
    await ofQueue(sent, 'sqs-dead'),
  ]).toEqual([1, 1, 0])
  expect(await ofTopic('number_of_notifications_redriven_to_dlq_total', 'dying')).toBe(1)
  expect(await ofTopic('number_of_notifications_delivered_total', 'dying')).toBe(1)
  expect(await ofQueue('number_of_messages_received_total', 'work')).toBe(1)
  expect(await ofQueue('number_of_empty_receives_total', 'work')).toBe(1)
})

test('gauges show the queues in use, and when one has become empty', async () => {
  const { client } = stack()
  for (const name of ['idle', 'busy']) await client.put(`/v1/queues/${name}`)
  const messages = [{ body: 'a' }, { body: 'b' }, { body: 'c', delaySeconds: 600 }]
  await client.post('/v1/queues/busy/messages', { messages })
  const { messages: received } = await client.post<{ messages: { receiptHandle: string }[] }>(
    '/v1/queues/busy/receive',
    {},
  )
  const gauges = async () => [
    await ofQueue('approximate_number_of_messages_visible', 'busy'),
    await ofQueue('approximate_number_of_messages_not_visible', 'busy'),
    await ofQueue('approximate_number_of_messages_delayed', 'busy'),
  ]
  expect(await gauges()).toEqual([1, 1, 1])
  expect(await ofQueue('approximate_age_of_oldest_message_seconds', 'busy')).toBeGreaterThan(0)
  await client.post('/v1/queues/busy/ack', {
    receiptHandles: received.map(({ receiptHandle }) => receiptHandle),
  })
  await client.post('/v1/queues/busy/purge', {})
  expect(await gauges()).toEqual([0, 0, 0])
  expect(await ofQueue('number_of_messages_deleted_total', 'busy')).toBe(1)
  const text = await (await fetch(`${stack().api.url}/metrics`)).text()
  expect(text).toContain('aws_sqs_approximate_number_of_messages_visible{QueueName="busy"} 0')
  expect(text).not.toContain('QueueName="idle"')
})
