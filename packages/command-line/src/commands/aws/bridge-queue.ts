/** The queue at AWS that carries messages to the bridge. It is made once, and keeps messages while no bridge runs. */
import { createHash } from 'node:crypto'
import { SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { isObject, objectOf, parseArn } from '@fantail/contracts'
import { CommandError } from '../../output/exit-codes.ts'
import type { AwsSubscription, AwsTopic } from './aws-topic.ts'

/** 14 days, the longest time that SQS keeps messages. */
const RETENTION_SECONDS = '1209600'
const COUNTS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const

/** Characters of the name of a queue at SQS. Past it: the name is cut, and gets a hash of the whole. */
const SQS_NAME_CHARS_MAX = 80
const HASH_CHARS = 8

export function bridgeQueueName({ name, isFifo }: Pick<AwsTopic, 'name' | 'isFifo'>): string {
  return sqsName(`fantail-bridge-${name.replace('.fifo', '')}`, isFifo ? '.fifo' : '')
}

/** The queue of the messages that Fantail refuses permanently. */
export function refusedQueueName({ isFifo }: Pick<AwsTopic, 'isFifo'>, bridgeQueue: string): string {
  return sqsName(bridgeQueue.replace('.fifo', ''), isFifo ? '-refused.fifo' : '-refused')
}

/** A name that SQS takes, with this ending. It is always the same for the same text. */
export function sqsName(text: string, ending: string): string {
  const room = SQS_NAME_CHARS_MAX - ending.length
  if (text.length <= room) return text + ending
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)
  return `${text.slice(0, room - HASH_CHARS - 1)}-${hash}${ending}`
}

/** The subscriptions of a bridge: of a URL, or of a queue with this name. */
export function bridgesAmong(subscriptions: AwsSubscription[], urlOrQueue: string): AwsSubscription[] {
  return subscriptions.filter(
    ({ endpoint }) => endpoint === urlOrQueue || parseArn(endpoint)?.name === urlOrQueue,
  )
}

/** Makes the queue if it is missing, and subscribes it. Resolves with its URL. */
export async function openBridgeQueue(topic: AwsTopic, name: string): Promise<string> {
  const { queueUrl, queueArn } = await makeAwsQueue(topic, name)
  await topic.sns.send(new SubscribeCommand({ TopicArn: topic.arn, Protocol: 'sqs', Endpoint: queueArn }))
  return queueUrl
}

interface AwsQueue {
  queueUrl: string
  queueArn: string
}

/**
 * Makes a queue at AWS if it is missing, and lets the topic send to it, or all topics of a pattern. All that its policy
 * allows stays allowed.
 */
export async function makeAwsQueue(topic: AwsTopic, name: string, senders = topic.arn): Promise<AwsQueue> {
  const { sqs } = topic
  const QueueUrl = await createAwsQueue(topic, name)
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn', 'Policy'] })
  const { QueueArn = '', Policy: present } = (await sqs.send(asked)).Attributes ?? {}
  const statements = statementsOf(present)
  const sources = statements.flatMap(sourcesOf)
  if (sources.some((source) => source !== senders))
    throw new CommandError(
      'conflict',
      `the policy of the queue ${name} lets others send to it`,
      'Give the bridge a queue of its own with --queue.',
    )
  if (sources.length === 0) {
    const Statement = [...statements, mayBeSent(QueueArn, senders)]
    const Policy = JSON.stringify({ Version: '2012-10-17', ...objectOf(present ?? ''), Statement })
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  }
  return { queueUrl: QueueUrl, queueArn: QueueArn }
}

/** Makes a queue that nobody else may send to, if it is missing. Resolves with its URL. */
export async function createAwsQueue({ sqs, isFifo }: AwsTopic, QueueName: string): Promise<string> {
  const fifo = isFifo && { FifoQueue: 'true' }
  const Attributes = { MessageRetentionPeriod: RETENTION_SECONDS, ...fifo }
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  return QueueUrl
}

/** A policy may have one statement that is not in a list. */
function statementsOf(policy: string | undefined): unknown[] {
  const { Statement = [] } = objectOf(policy ?? '') ?? {}
  return Array.isArray(Statement) ? Statement : [Statement]
}

interface Senders {
  /** The policy names topics that send to the queue. */
  isNamed: boolean
  /** These are all among the senders that were given. */
  areAll: boolean
  /** The policy also allows something to others than topics. */
  hasOthers: boolean
}

export async function sendersAmong(
  { sqs }: AwsTopic,
  QueueUrl: string,
  senders: readonly string[],
): Promise<Senders> {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['Policy'] })
  const { Policy } = (await sqs.send(asked)).Attributes ?? {}
  const statements = statementsOf(Policy)
  const sources = statements.flatMap(sourcesOf)
  return {
    isNamed: sources.length > 0,
    areAll: sources.every((source) => senders.includes(source)),
    hasOthers: statements.some(
      (one) => isObject(one) && one.Effect === 'Allow' && sourcesOf(one).length === 0,
    ),
  }
}

/** The topics or patterns that a condition of the statement lets send through a service such as SNS. */
function sourcesOf(statement: unknown): string[] {
  const conditions = isObject(statement) && isObject(statement.Condition) ? statement.Condition : {}
  const values = Object.values(conditions).flatMap((tests) => (isObject(tests) ? Object.entries(tests) : []))
  return values.flatMap(([key, value]) =>
    key.toLowerCase() === 'aws:sourcearn' ? [value].flat().map(String) : [],
  )
}

function mayBeSent(queueArn: string, senders: string): object {
  const operator = senders.includes('*') ? 'ArnLike' : 'ArnEquals'
  return {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queueArn,
    Condition: { [operator]: { 'aws:SourceArn': senders } },
  }
}

/** The queue of a bridge. Undefined: it has none, because it gets requests. */
export function queueOfBridge({ endpoint }: AwsSubscription): string | undefined {
  return parseArn(endpoint)?.name
}

/**
 * Whether the bridge has copied everything that was in its queue. Requests are not kept at AWS, so a bridge without a
 * queue has nothing to copy.
 */
export async function hasCopiedAll({ sqs }: AwsTopic, bridge: AwsSubscription): Promise<boolean> {
  const QueueName = queueOfBridge(bridge)
  if (QueueName === undefined) return true
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }))
  return isEmpty(sqs, QueueUrl)
}

export async function isEmpty(sqs: SQSClient, QueueUrl: string | undefined): Promise<boolean> {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] })
  const { Attributes = {} } = await sqs.send(asked)
  return COUNTS.every((name) => Number(Attributes[name] ?? 0) === 0)
}

/** Undefined: the queue does not exist. */
export async function ifThere<Answer>(asking: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return undefined
    throw error
  }
}
