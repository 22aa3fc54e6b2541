/** Archives of topics, from the publish to the replay, over both APIs. */
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  PublishBatchCommand,
  SetSubscriptionAttributesCommand,
} from '@aws-sdk/client-sns'
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const stack = useStack({ redrive: true, redis: { appendfsync: 'always' } })
const aws = useAwsClients(stack)

interface Task {
  id: string
  status: string
  moved: number
}

/** Large enough that a block has about 120 of them. */
const LARGE = 'x'.repeat(8_000)
/** Pause of each publisher. A flood would take all processors from the processes that start. */
const PUBLISH_EVERY_MS = 20

test('[419] an archive has every acknowledged message, whatever is killed, and replays it to a new subscription', async () => {
  const { client, connection } = stack()
  await client.put('/v1/topics/archived', { archive: { days: 1 } })
  const accepted: string[] = []
  let isPublishing = true
  const publishing = Array.from({ length: 2 }, async (_, publisher) => {
    for (let n = 0; isPublishing; n++) {
      const message = `${publisher}-${n} ${LARGE}`
      const { messageId } = await client
        .post<{ messageId?: string }>('/v1/topics/archived/messages', { message })
        .catch(() => ({ messageId: undefined }))
      if (messageId !== undefined) accepted.push(messageId)
      await untilPassed(PUBLISH_EVERY_MS)
    }
  })
  const blocks = async () => (await connection.keys('*:archive:blocks:*')).length
  const further = (count: number) => {
    const from = accepted.length
    return waitFor(() => accepted.length >= from + count)
  }
  await further(40)
  await stack().redrive?.restart()
  await further(40)
  await stack().worker(0).restart()
  await further(40)
  await stack().redis.kill()
  await stack().redis.restart()
  await further(100)
  await Promise.all([stack().redrive?.restart(), stack().worker(0).restart()])
  isPublishing = false
  await Promise.all(publishing)
  const jobs = async () => (await connection.keys('ft:{*}:dispatch-0:[0-9]*')).length
  await waitFor(async () => (await blocks()) > 0 && (await jobs()) === 0, { timeoutMs: 30_000 })
  const arn = 'new'
  await client.put(`/v1/queues/${arn}`)
  const { id } = await client.post<{ id: string }>('/v1/topics/archived/subscriptions', {
    protocol: 'sqs',
    endpoint: queueArn(arn),
    rawMessageDelivery: false,
  })
  const since = '2026-01-01T00:00:00Z'
  const task = await client.post<Task>(`/v1/subscriptions/${id}/resend`, {
    since,
    maxMessagesPerSecond: null,
  })
  const get = () => client.get<Task>(`/v1/redrives/${task.id}`)
  await waitFor(async () => (await get()).status === 'completed', { timeoutMs: 30_000 })
  const received = new Set<string>()
  await waitFor(
    async () => {
      for (const { MessageId, Replayed } of await receive(arn)) {
        expect(Replayed).toBe(true)
        received.add(MessageId)
      }
      return accepted.every((messageId) => received.has(messageId))
    },
    { timeoutMs: 30_000 },
  )
}, 120_000)

interface Notification {
  MessageId: string
  Message: string
  Timestamp: string
  Replayed?: boolean
}

/** The notifications that the queue has, in order. They are removed. */
async function receive(queue: string): Promise<Notification[]> {
  const QueueUrl = `${stack().api.url}/000000000000/${queue}`
  const all: Notification[] = []
  for (;;) {
    const { Messages = [] } = await aws().sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    )
    if (Messages.length === 0) return all
    all.push(...Messages.map(({ Body }) => JSON.parse(Body ?? '{}') as Notification))
    const Entries = Messages.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }))
    await aws().sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
  }
}

/** Waits until the queue has got so many messages. */
async function received(queue: string, count: number): Promise<Notification[]> {
  const all: Notification[] = []
  await waitFor(async () => all.push(...(await receive(queue))) >= count, { timeoutMs: 20_000 })
  return all
}

const TopicArn = topicArn('orders.fifo')

async function publish(texts: string[]): Promise<void> {
  for (let n = 0; n < texts.length; n += 10) {
    const entries = texts.slice(n, n + 10).map((Message, i) => ({
      Id: String(i),
      Message,
      MessageGroupId: 'g',
      MessageDeduplicationId: Message,
    }))
    await aws().sns.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries: entries }))
  }
}

async function subscribe(queue: string, policy: object): Promise<string> {
  await aws().createQueue(queue, { FifoQueue: 'true' })
  const attributes = { ReplayPolicy: JSON.stringify(policy) }
  return aws().subscribe('orders.fifo', { protocol: 'sqs', endpoint: queueArn(queue), attributes })
}

const textsOf = (all: Notification[]) => all.map(({ Message }) => Message)
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => String(from + n))

async function statusOf(SubscriptionArn: string): Promise<string | undefined> {
  const { Attributes } = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  return Attributes?.ReplayStatus
}

test('[412][415][416][418] a FIFO topic replays its archive in order, between two times or up to now and further', async () => {
  const Attributes = { FifoTopic: 'true', ArchivePolicy: '{"MessageRetentionPeriod":"30"}' }
  await aws().sns.send(new CreateTopicCommand({ Name: 'orders.fifo', Attributes }))
  const topic = (await aws().sns.send(new GetTopicAttributesCommand({ TopicArn }))).Attributes
  const StartingPoint = topic?.BeginningArchiveTime ?? ''
  expect(Date.parse(StartingPoint)).toBeGreaterThan(0)
  const point = { PointType: 'Timestamp', StartingPoint }

  await publish(numbered(0, 25))
  const all = await subscribe('all.fifo', point)
  const replayed = await received('all.fifo', 25)
  expect(textsOf(replayed)).toEqual(numbered(0, 25))
  expect(replayed.every(({ Replayed }) => Replayed)).toBe(true)
  await waitFor(async () => (await statusOf(all)) === 'Completed')
  await publish(numbered(25, 30))
  const live = await received('all.fifo', 5)
  expect([textsOf(live), live.some(({ Replayed }) => Replayed)]).toEqual([numbered(25, 30), false])

  const EndingPoint = replayed.at(-1)?.Timestamp
  const until = await subscribe('until.fifo', { ...point, EndingPoint })
  expect(await statusOf(until)).toMatch(/Pending|In progress|Completed/)
  const first = await received('until.fifo', 25)
  await waitFor(async () => (await statusOf(until)) === 'Completed')
  // The subscription gets nothing now.
  await publish(numbered(30, 35))
  await received('all.fifo', 5)
  expect([textsOf(first), await receive('until.fifo')]).toEqual([numbered(0, 25), []])
  const further = { PointType: 'Timestamp', StartingPoint: live[0]?.Timestamp }
  await aws().sns.send(
    new SetSubscriptionAttributesCommand({
      SubscriptionArn: until,
      AttributeName: 'ReplayPolicy',
      AttributeValue: JSON.stringify(further),
    }),
  )
  const rest = await received('until.fifo', 10)
  await waitFor(async () => (await statusOf(until)) === 'Completed')
  await publish(numbered(35, 40))
  rest.push(...(await received('until.fifo', 5)))
  expect(textsOf(rest)).toEqual(numbered(25, 40))
}, 60_000)
