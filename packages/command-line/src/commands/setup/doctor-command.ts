/**
 * `fantail doctor` looks for present and future problems, and says how to solve them. It changes nothing without
 * --webhook.
 */
import {
  type Client,
  getOverview,
  listConsumers,
  listQueues,
  listSubscriptions,
  type Queue,
  type Subscription,
} from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { pagesOf } from '../../frame/list-command.ts'
import { durationText } from '../../output/durations.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { checkServer, checkWebhook, type Finding } from './doctor-checks.ts'

export const doctor: Define = (command, does) => {
  command
    .option(
      '--webhook',
      'also sends a signed message to this machine, over a topic that is deleted afterwards',
    )
    .option(
      '--host <address>',
      'with --webhook: the address of this machine, as the server sees it',
      '127.0.0.1',
    )
    .action(
      does(async (context, flags: { webhook?: boolean; host: string }) => {
        const findings: Finding[] = []
        for await (const finding of allChecks(context, flags)) {
          findings.push(finding)
          show(context, finding)
        }
        const failed = findings.filter(({ status }) => status === 'failed').length
        if (failed > 0)
          throw new CommandError('failed', `${failed} of ${counted(findings.length, 'check')} failed`)
        return undefined
      }),
    )
  examples(command, 'doctor', 'doctor --webhook', 'doctor --json')
}

async function* allChecks(
  context: CommandContext,
  { webhook, host }: { webhook?: boolean; host: string },
): AsyncGenerator<Finding> {
  yield* checkServer(context)
  yield* checkMemory(await context.api())
  yield* checkQueues(await context.api())
  if (webhook) yield await checkWebhook(context, host)
}

const SIGNS = { ok: ['✓', 'green'], warning: ['▲', 'yellow'], failed: ['✕', 'red'] } as const

function show({ out }: CommandContext, finding: Finding): void {
  const { check, status, detail, fix } = finding
  const [sign, style] = SIGNS[status]
  const line = () => `${out.style(style, sign)} ${check}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`
  if (out.quiet && status === 'ok' && !out.json) return
  out.item(finding, line)
}

/** A share of the watermark. Above it, an operator should act before publishes are refused. */
const NEARLY_FULL = 0.8
const MIB = 1_048_576

async function* checkMemory(client: Client): AsyncGenerator<Finding> {
  const { memory } = await getOverview({ client })
  const check = 'memory'
  // A key with prefixes does not see the memory.
  if (!memory) return
  const { usedBytes, watermarkBytes } = memory
  if (watermarkBytes === null) {
    const fix = 'Set maxmemory of Redis, or FANTAIL_REDIS_MEMORY_BYTES.'
    yield { check, status: 'warning', detail: 'nothing says how much Redis may use', fix }
    return
  }
  const detail = `${mib(usedBytes)} of ${mib(watermarkBytes)} MiB, from which on publishing is refused`
  if (usedBytes < watermarkBytes * NEARLY_FULL) yield { check, status: 'ok', detail }
  else {
    const fix = '`fantail lanes` and `fantail dlq list` show what fills it. Give Redis more memory in time.'
    yield { check, status: usedBytes < watermarkBytes ? 'warning' : 'failed', detail, fix }
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}

/** Queues, and subscriptions, that `fantail doctor` looks at. Past it: the command says that there are more. */
const DOCTOR_ITEMS_MAX = 1_000

/** Finds settings of queues and subscriptions with which messages are lost or delivered twice. */
async function* checkQueues(client: Client): AsyncGenerator<Finding> {
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
