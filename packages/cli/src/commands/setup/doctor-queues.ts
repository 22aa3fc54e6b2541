/** Finds settings of queues and subscriptions with which messages are lost or delivered twice. */
import {
  type Client,
  listConsumers,
  listQueues,
  listSubscriptions,
  type Queue,
  type Subscription,
} from '@fantail/client/api'
import { pagesOf } from '../../frame/list-command.ts'
import { durationText } from '../../output/durations.ts'
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
  const findings = queues.flatMap((queue) => queueFindings(queue, queues))
  for (const queue of queues) findings.push(...(await visibilityFindings(client, queue)))
  yield* summed('queues', queues.length, findings)
  const read = (query: object) => listSubscriptions({ client, query })
  const subscriptions = await all(pagesOf(read, (page) => page.subscriptions, DOCTOR_ITEMS_MAX))
  yield* summed('subscriptions', subscriptions.length, subscriptions.flatMap(subscriptionFindings))
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

function queueFindings(queue: Queue, queues: Queue[]): Finding[] {
  const { name, redrivePolicy, retentionSeconds } = queue
  const check = `queue ${name}`
  const isForLetters = queue.deadLetterSources.length > 0 || queue.deadLettersOf !== null
  if (redrivePolicy === null) {
    if (isForLetters) return []
    const fix = `fantail queues set ${name} --dlq ${name}-dlq`
    const detail = 'has no dead-letter queue: a message that always fails comes back until it expires'
    return [{ check, status: 'warning', detail, fix }]
  }
  const found: Finding[] = []
  const { deadLetterTargetArn, maxReceiveCount } = redrivePolicy
  if (maxReceiveCount === 1) {
    const detail = 'maxReceiveCount is 1: one crash or one late answer makes a dead letter'
    const fix = `fantail queues set ${name} --dlq ${deadLetterTargetArn} --max-receives 5`
    found.push({ check, status: 'warning', detail, fix })
  }
  const letters = queues.find(({ arn }) => arn === deadLetterTargetArn)
  if (letters && letters.retentionSeconds <= retentionSeconds) {
    const kept = durationText(letters.retentionSeconds * 1_000)
    const detail = `${letters.name} keeps letters for ${kept}, no longer than ${name} keeps messages`
    const fix = `fantail queues set ${letters.name} --retention 14d (a letter’s age counts from its first queue)`
    found.push({ check, status: 'warning', detail, fix })
  }
  return found
}

async function visibilityFindings(
  client: Client,
  { name, visibilityTimeoutSeconds }: Queue,
): Promise<Finding[]> {
  const read = (query: object) => listConsumers({ client, path: { queue: name }, query })
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

function subscriptionFindings({ id, name, endpoint, status, onFailure }: Subscription): Finding[] {
  const check = `subscription ${name ?? id}`
  const found: Finding[] = []
  if (/\bdiscarded\b/.test(onFailure)) {
    const detail = `${endpoint} has no dead-letter queue: ${onFailure}`
    found.push({ check, status: 'warning', detail, fix: `fantail subs set ${id} --dlq QUEUE` })
  }
  if (status === 'pending') {
    const detail = `${endpoint} has not confirmed, and gets nothing`
    found.push({ check, status: 'warning', detail })
  }
  return found
}
