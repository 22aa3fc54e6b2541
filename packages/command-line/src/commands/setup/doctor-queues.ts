/**
 * The checks of `fantail doctor` of queues and subscriptions: settings with which messages are lost or delivered twice.
 * Each remedy is a line for a shell that works as it is printed.
 */
import {
  type Client,
  getQueue,
  listPushConsumers,
  listQueues,
  listSubscriptions,
  type Queue,
  type Subscription,
} from '@fantail/client/api'
import { RETENTION_SECONDS_MAX } from '@fantail/contracts'
import { pagesOf } from '../../frame/list-command.ts'
import { durationText } from '../../output/durations.ts'
import { exitOf } from '../../output/exit-codes.ts'
import type { Finding } from './doctor-checks.ts'

/** Queues, and subscriptions, that `fantail doctor` looks at. Past it: the command says that there are more. */
const DOCTOR_ITEMS_MAX = 1_000

export async function* checkQueues(client: Client): AsyncGenerator<Finding> {
  const queues = await all(
    pagesOf(
      (query) => listQueues({ client, query }),
      (page) => page.queues,
      DOCTOR_ITEMS_MAX,
    ),
  )
  const known = createKnownQueues(client, queues)
  const ofQueues: Finding[] = []
  for (const queue of queues) {
    ofQueues.push(...(await queueFindings(queue, known)))
    ofQueues.push(...(await visibilityFindings(client, queue)))
  }
  yield* summed('queues', queues.length, ofQueues)
  const read = (query: object) => listSubscriptions({ client, query })
  const subscriptions = await all(pagesOf(read, (page) => page.subscriptions, DOCTOR_ITEMS_MAX))
  const found = await Promise.all(
    subscriptions.map((subscription) => subscriptionFindings(subscription, known)),
  )
  const findings = [...(await discardFindings(subscriptions, known)), ...found.flat()]
  yield* summed('subscriptions', subscriptions.length, findings)
}

async function all<T>(pages: AsyncGenerator<T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}

function* summed(check: string, count: number, findings: Finding[]): Generator<Finding> {
  yield* findings
  const more = count >= DOCTOR_ITEMS_MAX ? `the first ${count}; there may be more` : `${count}`
  yield { check, status: 'ok', detail: `${more} looked at, ${findings.length} warnings` }
}

/** Looks a queue up by its name or ARN, and asks the server at most once. A key may not see all queues. */
type KnownQueues = (queue: string) => Promise<Queue | 'missing' | 'unseen'>

function createKnownQueues(client: Client, listed: Queue[]): KnownQueues {
  const known = new Map<string, ReturnType<KnownQueues>>()
  for (const queue of listed)
    for (const key of [queue.name, queue.arn]) known.set(key, Promise.resolve(queue))
  const read = (queue: string): ReturnType<KnownQueues> =>
    getQueue({ client, path: { queue } }).catch((error: unknown) => {
      if (exitOf(error) === 'notFound') return 'missing'
      if (exitOf(error) === 'refused') return 'unseen'
      throw error
    })
  return (queue) => {
    const answer = known.get(queue) ?? read(queue)
    known.set(queue, answer)
    return answer
  }
}

const nameOf = (arn: string) => arn.slice(arn.lastIndexOf(':') + 1)

/** Longer names would be refused. */
const NAME_CHARS_MAX = 80

/** A name for the queue that takes the dead letters of a queue or topic. */
function letterQueueOf(name: string): string {
  const [, stem = '', fifo = ''] = /^(.*?)(\.fifo)?$/.exec(name) ?? []
  const end = `-dlq${fifo}`
  return `${stem.slice(0, NAME_CHARS_MAX - end.length)}${end}`
}

/** Makes the queue first, if it does not exist. */
async function withQueue(name: string, command: string, known: KnownQueues): Promise<string> {
  return (await known(name)) === 'missing' ? `fantail queues create ${name} && ${command}` : command
}

async function queueFindings(queue: Queue, known: KnownQueues): Promise<Finding[]> {
  const { name, redrivePolicy } = queue
  if (redrivePolicy !== null) return policyFindings(queue, redrivePolicy, known)
  if (queue.deadLetterSources.length > 0 || queue.deadLettersOf !== null) return []
  const letters = letterQueueOf(name)
  const fix = await withQueue(letters, `fantail queues set ${name} --dlq ${letters}`, known)
  const detail = 'has no dead-letter queue: a message that always fails comes back until it expires'
  return [{ check: `queue ${name}`, status: 'warning', detail, fix }]
}

async function policyFindings(
  { name, retentionSeconds }: Queue,
  { deadLetterTargetArn: arn, maxReceiveCount }: NonNullable<Queue['redrivePolicy']>,
  known: KnownQueues,
): Promise<Finding[]> {
  const found: Finding[] = []
  const add = (detail: string, fix: string) =>
    found.push({ check: `queue ${name}`, status: 'warning', detail, fix })
  if (maxReceiveCount === 1) {
    const detail = 'maxReceiveCount is 1: one crash or one late answer makes a dead letter'
    add(detail, `fantail queues set ${name} --dlq ${nameOf(arn)} --max-receives 5`)
  }
  const letters = await known(arn)
  if (letters === 'missing') {
    const detail = `its dead-letter queue ${nameOf(arn)} does not exist: messages that always fail come back`
    add(detail, `fantail queues create ${nameOf(arn)}`)
  } else if (letters !== 'unseen' && letters.retentionSeconds <= retentionSeconds) {
    const kept = durationText(letters.retentionSeconds * 1_000)
    const detail =
      `${letters.name} keeps letters for ${kept}, no longer than ${name} keeps messages; ` +
      'the age of a letter counts from its first queue'
    const isLongest = letters.retentionSeconds >= RETENTION_SECONDS_MAX
    add(
      detail,
      isLongest
        ? `fantail queues set ${name} --retention 4d`
        : `fantail queues set ${letters.name} --retention 14d`,
    )
  }
  return found
}

async function visibilityFindings(
  client: Client,
  { name, visibilityTimeoutSeconds }: Queue,
): Promise<Finding[]> {
  const read = (query: object) => listPushConsumers({ client, path: { queue: name }, query })
  const consumers = await all(pagesOf(read, (page) => page.consumers, DOCTOR_ITEMS_MAX))
  return consumers
    .filter(({ timeoutSeconds }) => timeoutSeconds > visibilityTimeoutSeconds)
    .map((consumer) => ({
      check: `queue ${name}`,
      status: 'warning' as const,
      detail:
        `visibility of ${visibilityTimeoutSeconds} s is below the ${consumer.timeoutSeconds} s that ` +
        `consumer ${consumer.name} may take: others get the message meanwhile`,
      fix: `fantail queues set ${name} --visibility ${consumer.timeoutSeconds * 2}s`,
    }))
}

/** Subscriptions of a topic share a finding, because an import can make many of them. */
async function discardFindings(subscriptions: Subscription[], known: KnownQueues): Promise<Finding[]> {
  const discarding = subscriptions.filter(({ onFailure }) => /\bdiscarded\b/.test(onFailure))
  const byTopic = Map.groupBy(discarding, ({ topicArn }) => topicArn)
  return Promise.all(
    [...byTopic].map(async ([topicArn, ofTopic]) => {
      const topic = nameOf(topicArn)
      const letters = letterQueueOf(topic)
      const commands = ofTopic.map(({ id }) => `fantail subs set ${id} --dlq ${letters}`).join(' && ')
      const [first] = ofTopic
      const [check, what] =
        ofTopic.length === 1
          ? [`subscription ${first?.name ?? first?.id}`, `${first?.endpoint} has no dead-letter queue`]
          : [
              `topic ${topic}`,
              `${ofTopic.length} subscriptions have no dead-letter queue, such as ${first?.endpoint}`,
            ]
      const fix = await withQueue(letters, commands, known)
      return { check, status: 'warning' as const, detail: `${what}: ${first?.onFailure}`, fix }
    }),
  )
}

async function subscriptionFindings(
  { id, name, endpoint, status, redrivePolicy }: Subscription,
  known: KnownQueues,
): Promise<Finding[]> {
  const check = `subscription ${name ?? id}`
  const found: Finding[] = []
  const target = redrivePolicy?.deadLetterTargetArn
  if (target !== undefined && (await known(target)) === 'missing') {
    const detail = `its dead-letter queue ${nameOf(target)} does not exist: its dead letters wait until it does`
    found.push({ check, status: 'warning', detail, fix: `fantail queues create ${nameOf(target)}` })
  }
  if (status === 'pending') {
    const detail = `${endpoint} has not confirmed, and gets nothing`
    found.push({ check, status: 'warning', detail })
  }
  return found
}
