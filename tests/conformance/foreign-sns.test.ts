/**
 * `fantail import sns` from a foreign implementation of SNS and SQS: moto's server, with as much as a company may have.
 * `npm run test:packages` runs it.
 */
import {
  CreateTopicCommand,
  SetTopicAttributesCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MotoServer, motoPython, startMoto } from '../consumer/moto-server.ts'
import { snapshotOf } from '../harness/aws/account-snapshot.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

const TOPICS = 200
const SUBSCRIPTIONS_OF_TOPIC = 10
const QUEUES = 300
/** The only account of moto, unless a key asks for another one. */
const ACCOUNT = '123456789012'
const REGION = 'us-east-1'
const WRITERS = 16

const python = process.env.FANTAIL_PACKAGES_LONG ? motoPython() : undefined
const arnOf = (service: 'sns' | 'sqs', name: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`
const range = (count: number) => Array.from({ length: count }, (_, n) => n)

async function inParallel<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: WRITERS }, worker))
}

interface Clients {
  sns: SNSClient
  sqs: SQSClient
}

function clientsOf(endpoint: string, accessKeyId: string): Clients {
  const config = { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey: 'test' } }
  return { sns: new SNSClient(config), sqs: new SQSClient(config) }
}

/** Every fifth queue is a FIFO queue. The first queues are the dead-letter queues of all others. */
const isFifo = (n: number) => n % 5 === 4
const queueName = (n: number) => (isFifo(n) ? `queue-${n}.fifo` : `queue-${n}`)
const topicName = (n: number) => (isFifo(n) ? `topic-${n}.fifo` : `topic-${n}`)
const deadLetters = (n: number) => arnOf('sqs', queueName(isFifo(n) ? 4 : 0))

async function makeQueue({ sqs }: Clients, n: number): Promise<void> {
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        ...{ Effect: 'Allow', Principal: { Service: 'sns.amazonaws.com' }, Action: 'sqs:SendMessage' },
        Resource: arnOf('sqs', queueName(n)),
        Condition: { ArnEquals: { 'aws:SourceArn': arnOf('sns', topicName(n % TOPICS)) } },
      },
    ],
  })
  const Attributes = {
    VisibilityTimeout: String(30 + (n % 60)),
    MessageRetentionPeriod: String(86_400 + n),
    ReceiveMessageWaitTimeSeconds: String(n % 20),
    ...(n > 4 && {
      Policy,
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetters(n), maxReceiveCount: 1 + (n % 9) }),
    }),
    ...(isFifo(n) && { FifoQueue: 'true', ContentBasedDeduplication: String(n % 2 === 0) }),
  }
  await sqs.send(new CreateQueueCommand({ QueueName: queueName(n), Attributes, tags: { number: String(n) } }))
}

async function makeTopic(clients: Clients, n: number): Promise<void> {
  const { sns } = clients
  const Attributes: Record<string, string> = isFifo(n)
    ? { FifoTopic: 'true', ContentBasedDeduplication: String(n % 2 === 0) }
    : {}
  const Tags = [{ Key: 'number', Value: String(n) }]
  await sns.send(new CreateTopicCommand({ Name: topicName(n), Attributes, Tags }))
  const TopicArn = arnOf('sns', topicName(n))
  const retries = { minDelayTarget: 1 + n, maxDelayTarget: 400, numRetries: 3 }
  const http = { defaultHealthyRetryPolicy: retries, disableSubscriptionOverrides: false }
  const set = { DisplayName: `Topic ${n}`, ...(n % 3 === 0 && { DeliveryPolicy: JSON.stringify({ http }) }) }
  for (const [AttributeName, AttributeValue] of Object.entries(set))
    await sns.send(new SetTopicAttributesCommand({ TopicArn, AttributeName, AttributeValue }))
  for (const k of range(SUBSCRIPTIONS_OF_TOPIC)) await subscribe(clients, n, k)
}

async function subscribe({ sns }: Clients, n: number, k: number): Promise<void> {
  const queue = ((n % 5) + 5 * ((n + k) % 40)) % QUEUES
  const isQueue = isFifo(n) || k % 2 === 0
  const body = k % 3 === 0 && { order: { total: [{ numeric: ['>', n] }] } }
  await sns.send(
    new SubscribeCommand({
      TopicArn: arnOf('sns', topicName(n)),
      Protocol: isQueue ? 'sqs' : 'https',
      Endpoint: isQueue ? arnOf('sqs', queueName(queue)) : `https://hooks.example.com/${n}/${k}`,
      Attributes: {
        FilterPolicyScope: body ? 'MessageBody' : 'MessageAttributes',
        FilterPolicy: JSON.stringify({ kind: [`k${k}`], ...body }),
        RawMessageDelivery: String(k % 4 === 0),
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetters(n) }),
      },
    }),
  )
}

describe.skipIf(python === undefined)('a large account of moto', () => {
  const stack = useStack({ workers: 0, env: { FANTAIL_ACCOUNT: ACCOUNT } })
  let moto: MotoServer | undefined
  let there: Clients
  let here: Clients
  beforeAll(async () => {
    moto = await startMoto(python ?? '')
    there = clientsOf(moto.url, 'test')
    here = clientsOf(stack().api.url, 'test')
    await inParallel(range(5), (n) => makeQueue(there, n))
    await inParallel(range(QUEUES).slice(5), (n) => makeQueue(there, n))
    await inParallel(range(TOPICS), (n) => makeTopic(there, n))
  }, 600_000)
  afterAll(() => moto?.stop())

  const run = (...words: string[]) =>
    callFantail(['import', 'sns', '--endpoint', moto?.url ?? '', ...words], {
      env: {
        FANTAIL_URL: stack().api.url,
        AWS_REGION: REGION,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
      },
    })

  test('all of it comes over, nothing is lost without a word, and a second import changes nothing', async () => {
    const planned = await run('--plan', '--json')
    expect([planned.code, planned.stderr]).toEqual([9, expect.stringContaining('to create')])
    const lines = planned.stdout.split('\n').slice(0, -1)
    const objects = lines.map((line) => JSON.parse(line) as { act?: string; what?: string; text?: string })
    expect(objects.filter(({ act }) => act === 'create')).toHaveLength(
      QUEUES + TOPICS + TOPICS * SUBSCRIPTIONS_OF_TOPIC,
    )
    const lost = objects.filter(({ what }) => what === 'lost').map(({ text }) => text)
    // moto has no data protection policies.
    const unread = 'data protection policies (UnreadableAnswer)'
    expect(lost).toEqual([expect.stringContaining('Lambda'), unread, 'alarms and dashboards of CloudWatch'])

    expect((await run('--yes', '--quiet')).code).toBe(0)
    const [source, made] = await Promise.all([snapshotOf(there), snapshotOf(here)])
    for (const kind of ['topics', 'subscriptions', 'queues'] as const) {
      expect(Object.keys(made[kind]).toSorted()).toEqual(Object.keys(source[kind]).toSorted())
      for (const [name, shown] of Object.entries(source[kind]))
        expect([name, compared(made[kind][name])]).toEqual([name, compared(shown)])
    }
    expect(await run('--plan', '--quiet')).toMatchObject({ code: 0, stderr: '' })
  }, 600_000)
})

/** Attributes that moto gives in SNS's form. */
const COMPARED = [
  ...['DisplayName', 'DeliveryPolicy', 'FifoTopic', 'ContentBasedDeduplication', 'tags', 'FilterPolicy'],
  ...[
    'FilterPolicyScope',
    'RawMessageDelivery',
    'RedrivePolicy',
    'VisibilityTimeout',
    'MessageRetentionPeriod',
  ],
  ...['ReceiveMessageWaitTimeSeconds', 'DelaySeconds', 'Policy', 'FifoQueue'],
]

function compared(shown: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(COMPARED.flatMap((name) => (name in shown ? [[name, shown[name]]] : [])))
}
