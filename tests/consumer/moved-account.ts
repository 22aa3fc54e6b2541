/**
 * An account at moto with many topics, for a move to Fantail, and the ledger of what its receivers got. Each topic has
 * ten subscriptions: seven webhooks and three queues, with filters, raw delivery and dead-letter queues.
 */
import {
  CreatePlatformApplicationCommand,
  CreateTopicCommand,
  type SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { sideBySide } from '@fantail/store'
import type { Receiver } from '@fantail/test-kit'

export const REGION = 'eu-west-1'
export const ACCOUNT = '123456789012'
const [TARGETS, DEAD] = [250, 50]
export const SIZE = { topics: 200, subscriptions: 2_000, queues: TARGETS + DEAD }
/** Topics whose seventh subscription is a queue of another account, which cannot come over. */
const FOREIGN = 5
/** Topics whose tenth subscription names a dead-letter queue that does not exist. */
const WITHOUT_DEAD = 3
const MOTO_CALLS_AT_ONCE = 4

export interface Sent {
  id: string
  topic: number
  kind: 'order' | 'refund'
  region: string
  amount: number
}

const topicName = (topic: number) => `move-${String(topic).padStart(3, '0')}`
export const topicArn = (topic: number) => `arn:aws:sns:${REGION}:${ACCOUNT}:${topicName(topic)}`
const queueArn = (name: string) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`
const queueOf = (topic: number, index: number) => `queue-${(topic * 3 + index) % TARGETS}`
export const PATTERN = `arn:aws:sns:${REGION}:${ACCOUNT}:move-*`

interface Place {
  protocol: 'http' | 'sqs'
  endpoint: string
  attributes: Record<string, string>
  gets(sent: Sent): boolean
}

const filter = (policy: object, FilterPolicyScope = 'MessageAttributes') => ({
  FilterPolicy: JSON.stringify(policy),
  FilterPolicyScope,
})
const ORDERS = filter({ kind: ['order'] })
const isOrder = ({ kind }: Sent) => kind === 'order'
const always = () => true

/** The ten subscriptions of a topic. */
function placesOf(topic: number, url: string): Place[] {
  const retries = { minDelayTarget: 1, maxDelayTarget: 5, numRetries: 6, backoffFunction: 'exponential' }
  const DeliveryPolicy = JSON.stringify({ healthyRetryPolicy: retries })
  const dead = topic < WITHOUT_DEAD ? 'missing' : `dead-${topic % DEAD}`
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn(dead) })
  const web = (index: number, attributes: Place['attributes'], gets: Place['gets'] = always): Place => ({
    protocol: 'http',
    endpoint: `${url}/${topic}/${index}`,
    attributes,
    gets,
  })
  const queue = (index: number, attributes: Place['attributes'], gets: Place['gets'] = always): Place => ({
    protocol: 'sqs',
    endpoint: queueArn(queueOf(topic, index)),
    attributes,
    gets,
  })
  const foreign: Place = {
    protocol: 'sqs',
    endpoint: `arn:aws:sqs:${REGION}:999999999999:theirs`,
    attributes: filter({ kind: ['never'] }),
    gets: () => false,
  }
  const body = filter({ amount: [{ numeric: ['>=', 50] }] }, 'MessageBody')
  return [
    web(0, {}),
    web(1, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(`dead-${topic % DEAD}`) }) }),
    web(2, ORDERS, isOrder),
    web(3, filter({ kind: [{ 'anything-but': ['order'] }] }), (sent) => !isOrder(sent)),
    web(4, body, ({ amount }) => amount >= 50),
    web(5, filter({ region: [{ prefix: 'eu-' }] }), ({ region }) => region.startsWith('eu-')),
    topic < FOREIGN ? foreign : web(6, { DeliveryPolicy }),
    queue(0, {}),
    queue(1, { RawMessageDelivery: 'true' }),
    queue(2, { ...ORDERS, RedrivePolicy }, isOrder),
  ]
}

interface Clients {
  sns: SNSClient
  sqs: SQSClient
}

/** Makes the whole account. */
export async function makeAccount({ sns, sqs }: Clients, url: string): Promise<void> {
  const names = [
    ...Array.from({ length: DEAD }, (_, n) => `dead-${n}`),
    ...Array.from({ length: TARGETS }, (_, n) => `queue-${n}`),
  ]
  await sideBySide(names, MOTO_CALLS_AT_ONCE, async (QueueName) => {
    const Statement = [
      {
        Effect: 'Allow',
        Principal: '*',
        Action: 'sqs:SendMessage',
        Resource: queueArn(QueueName),
        Condition: { ArnLike: { 'aws:SourceArn': PATTERN } },
      },
    ]
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { Policy, VisibilityTimeout: '90' } }))
  })
  await sideBySide([...Array(SIZE.topics).keys()], MOTO_CALLS_AT_ONCE, async (topic) => {
    const Tags = [{ Key: 'team', Value: String(topic % 7) }]
    await sns.send(new CreateTopicCommand({ Name: topicName(topic), Tags }))
    for (const { protocol, endpoint, attributes } of placesOf(topic, url))
      await sns.send(
        new SubscribeCommand({
          TopicArn: topicArn(topic),
          Protocol: protocol,
          Endpoint: endpoint,
          Attributes: attributes,
        }),
      )
  })
  const Attributes = { PlatformCredential: 'key', PlatformPrincipal: 'cert' }
  await sns.send(new CreatePlatformApplicationCommand({ Name: 'app', Platform: 'GCM', Attributes }))
}

/** The losses that the plan must name, with the number of objects. 0: it concerns the whole account. */
export const LOSSES = {
  'its queue is of another account or region, or was deleted': FOREIGN,
  [`its dead-letter queue ${queueArn('missing')} was not found, so that failed messages are discarded`]:
    WITHOUT_DEAD,
  'platform applications and their devices, because SNS shows no credentials': 1,
  'functions that Lambda feeds from queues, if there are any: event source mappings belong to Lambda': 0,
  'alarms and dashboards of CloudWatch': 0,
  // moto lacks the operation.
  'data protection policies (UnreadableAnswer)': SIZE.topics,
}

/** Counts what each subscription got, by message. */
export class MoveLedger {
  readonly #url: string
  readonly #receiver: Receiver
  readonly #got = new Map<string, Map<string, number>>()
  readonly published: Sent[] = []
  requests = { aws: 0, fantail: 0 }
  #seen = 0

  constructor(receiver: Receiver) {
    this.#receiver = receiver
    this.#url = receiver.url
  }

  /** Counts the requests since the last call. */
  readRequests(): void {
    const { requests } = this.#receiver
    for (; this.#seen < requests.length; this.#seen++) {
      const request = requests[this.#seen]
      if (!request) continue
      const { Message } = JSON.parse(request.text) as { Message: string }
      this.#add(request.path.slice(1), (JSON.parse(Message) as Sent).id)
      this.requests[request.messageId === '' ? 'aws' : 'fantail']++
    }
  }

  /** Counts what has come to the queues at AWS since the last call. */
  async readQueues(sqs: SQSClient, url: string): Promise<void> {
    await sideBySide([...Array(TARGETS).keys()], MOTO_CALLS_AT_ONCE, async (queue) => {
      const QueueUrl = `${url}/${ACCOUNT}/queue-${queue}`
      const asked = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 40_000 }
      for (;;) {
        const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(asked))
        if (Messages.length === 0) return
        for (const { Body = '' } of Messages) {
          const body = JSON.parse(Body) as { Message?: string }
          const { topic, id } = (body.Message ? JSON.parse(body.Message) : body) as Sent
          this.#add(`${topic} queue-${queue}`, id)
        }
      }
    })
  }

  #add(place: string, id: string): void {
    const got = this.#got.get(place) ?? new Map<string, number>()
    this.#got.set(place, got.set(id, (got.get(id) ?? 0) + 1))
  }

  /** Every subscription with what it must have got. */
  balance(): { missing: string[]; due: number; twice: number; unwanted: number } {
    const missing: string[] = []
    let [due, twice, unwanted] = [0, 0, 0]
    const byTopic = Map.groupBy(this.published, ({ topic }) => topic)
    for (const [topic, sent] of byTopic)
      for (const { protocol, endpoint, gets } of placesOf(topic, this.#url)) {
        const name =
          protocol === 'http' ? endpoint.slice(this.#url.length + 1) : `${topic} ${endpoint.split(':')[5]}`
        const got = this.#got.get(name)
        for (const one of sent) {
          const count = got?.get(one.id) ?? 0
          if (!gets(one)) unwanted += count
          else {
            due++
            if (count === 0) missing.push(`${name}: ${one.id}`)
            twice += Math.max(0, count - 1)
          }
        }
      }
    return { missing, due, twice, unwanted }
  }

  /** Messages that topics got at least. */
  leastOfTopics(): number {
    const counts = Map.groupBy(this.published, ({ topic }) => topic)
    return counts.size < SIZE.topics ? 0 : Math.min(...Array.from(counts.values(), (sent) => sent.length))
  }
}
