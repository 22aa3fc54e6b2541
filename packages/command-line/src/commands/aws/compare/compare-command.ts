/**
 * `fantail compare` shows what subscribers get from AWS and from Fantail, and what differs. It collects the messages of
 * both sides beside the subscriptions, so no endpoint notices it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { UnsubscribeCommand } from '@aws-sdk/client-sns'
import { type Client, deleteSubscription } from '@fantail/client/api'
import { nameOfArn } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { sideBySide } from '@fantail/store'
import { connectLate } from '../../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../../frame/command-context.ts'
import { readWhole } from '../../../frame/command-input.ts'
import { failureText } from '../../../frame/failure-text.ts'
import { durationText, parseDuration } from '../../../output/durations.ts'
import { CommandError, type ExitName } from '../../../output/exit-codes.ts'
import { counted } from '../../../output/text-table.ts'
import { type AwsTopics, CALLS_AT_ONCE, openAwsTopics, refuseForSeveral } from '../aws-topic.ts'
import { bridgeQueueName, bridgesAmong } from '../bridge-queue.ts'
import { differenceOf, type Pair, readAllPairs, readPairs } from '../subscription-pairs.ts'
import { type Comparison, compareArrivals, isEqual } from './compare-arrivals.ts'
import {
  deleteTwinQueues,
  isQueueTwin,
  openQueueTwins,
  type Sides,
  type Twin,
  type TwinTools,
  type Undo,
} from './queue-twins.ts'
import { isRequestTwin, openRequestTwins } from './request-twins.ts'

interface CompareFlags {
  to?: string
  during: string
  tail: string
  endpoint?: string
  host: string
  port: string
  end?: boolean
}

/** Time to remove everything after Ctrl-C. Past it: it stays until `--end`. */
const TWINS_REMOVED_MS_MAX = 15_000
/** Pause between two looks whether the last messages have arrived. */
const ARRIVAL_LOOK_MS = 200
/** Ids that a line shows. The lines of `--json` have all. */
const IDS_SHOWN_MAX = 3

export const compare: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS; `*` in its name stands for any text')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option('--during <time>', 'how long messages are compared', '1m')
    .option('--tail <time>', 'how long the last messages may take at most to arrive on both sides', '10s')
    .option(
      '--endpoint <url>',
      'webhooks are compared with their headers, by requests to this URL of the process',
    )
    .option('--host <host>', 'with --endpoint: the address on which the process listens', '127.0.0.1')
    .option('--port <port>', 'with --endpoint: its port; 0 takes a free one', '4150')
    .option('--end', 'removes what earlier comparisons have left behind, and ends')
    .action(does(runCompare))
  examples(
    command,
    'compare arn:aws:sns:eu-west-1:123456789012:orders',
    'compare arn:aws:sns:eu-west-1:123456789012:orders --during 10m --json',
    "compare 'arn:aws:sns:eu-west-1:123456789012:shop-*'",
    'compare arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://compare.example.com/ --port 8080',
    'compare arn:aws:sns:eu-west-1:123456789012:orders --end',
  )
}

async function runCompare(context: CommandContext, arn: string, flags: CompareFlags): Promise<ExitName> {
  const opened = await openAwsTopics(arn, context)
  const undo: Undo[] = []
  try {
    const { to, endpoint } = flags
    refuseForSeveral(opened, { to, endpoint: flags.end ? undefined : endpoint })
    const { signal } = context
    const client = connectLate({ ...(await context.server()), signal, graceMs: TWINS_REMOVED_MS_MAX })
    if (flags.end) return await endCompare(context, opened, { client, flags })
    return await compareTopics(context, opened, { ...flags, client, undo })
  } finally {
    await removeAll(context, undo)
    opened.close()
  }
}

async function removeAll({ out }: CommandContext, undo: Undo[]): Promise<void> {
  const progress = out.progress('queues and subscriptions of the comparison removed')
  let count = 0
  const steps = undo.toReversed()
  for (const round of [steps.filter((one) => one.isSubscription), steps.filter((one) => !one.isSubscription)])
    await sideBySide(round, CALLS_AT_ONCE, async ({ what, remove }) => {
      await remove().catch((error) => out.warn(`${what} was not removed: ${failureText(error)}`))
      progress.update(++count, undo.length)
    })
  progress.end()
}

/**
 * Removes the twins of comparisons that were killed. Those of a comparison under way end too. Topics share queues, so
 * that the queues are deleted when no topic sends to them any more.
 */
async function endCompare(
  { out }: CommandContext,
  opened: AwsTopics,
  { client, flags }: { client: Client; flags: CompareFlags },
): Promise<ExitName> {
  const isTwin = ({ endpoint }: { endpoint: string }) =>
    isQueueTwin(endpoint) || (flags.endpoint !== undefined && isRequestTwin(endpoint, flags.endpoint))
  const show = (unsubscribed: string) =>
    out.item({ unsubscribed }, () => `unsubscribed ${unsubscribed}`, unsubscribed)
  const queues = new Set<string>()
  for (const topic of opened.topics) {
    const { pairs, onlyAws, onlyHere } = await readPairs(topic, client, flags.to)
    for (const { arn, endpoint } of [...onlyAws, ...pairs.map(({ aws }) => aws)].filter(isTwin)) {
      await topic.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
      if (isQueueTwin(endpoint)) queues.add(nameOfArn(endpoint))
      show(endpoint)
    }
    for (const { id, endpoint } of [...onlyHere, ...pairs.map(({ here }) => here)].filter(isTwin)) {
      await deleteSubscription({ client, path: { id } })
      show(endpoint)
    }
  }
  await deleteTwinQueues(opened, queues, {
    deleted: (deletedQueue) =>
      out.item({ deletedQueue }, () => `deleted the queue ${deletedQueue}`, deletedQueue),
    stays: (name) => out.warn(`the queue ${name} stays, because other topics send to it`),
  })
  return 'done'
}

async function compareTopics(
  context: CommandContext,
  opened: AwsTopics,
  { client, undo, ...flags }: CompareFlags & { client: Client; undo: Undo[] },
): Promise<ExitName> {
  const [duringMs, tailMs] = [parseDuration(flags.during, '--during'), parseDuration(flags.tail, '--tail')]
  const { out, signal } = context
  const progress = out.progress('queues and subscriptions made for the comparison')
  const onMade = () => {
    signal.throwIfAborted()
    progress.update(undo.length)
  }
  const tools = { client, server: await context.server(), undo, onMade }
  const read = await readAllPairs(context, opened, client, flags.to)
  const topics = read.map(({ topic, pairs, onlyAws, onlyHere }) => {
    const bridges = bridgesAmong(onlyAws, bridgeQueueName(topic))
    for (const one of onlyAws)
      if (!bridges.includes(one)) out.warn(`${one.endpoint} of ${topic.name} is subscribed at AWS only`)
    for (const { endpoint } of onlyHere)
      out.warn(`${endpoint} of ${topic.name} is subscribed at Fantail only`)
    return { topic, to: flags.to ?? topic.name, pairs }
  })
  const pairs = topics.flatMap((one) => one.pairs)
  if (pairs.length === 0) throw new CommandError('notFound', 'no endpoint is subscribed on both sides')
  const twins = await openTwins(tools, topics, { ...flags, pattern: opened.pattern, signal })
  progress.end()
  out.note(`comparing the messages of ${durationText(duringMs)}`)
  const from = Date.now()
  await delay(duringMs, undefined, { signal })
  const until = Date.now()
  const isWhole = ({ aws, fantail }: Twin) => {
    const { onlyAws: atAws, onlyFantail: here } = compareArrivals(aws, fantail, from, until)
    return atAws.length === 0 && here.length === 0
  }
  while (Date.now() < until + tailMs && !twins.every(isWhole))
    await delay(ARRIVAL_LOOK_MS, undefined, { signal })
  return report(context, twins, { from, until })
}

/** Shows each subscription, those that differ at the end, where they are seen. */
function report(
  context: CommandContext,
  twins: readonly Twin[],
  { from, until }: { from: number; until: number },
): ExitName {
  const { out } = context
  const rows = twins.flatMap(({ aws, fantail, pairs: alike }) => {
    const found = compareArrivals(aws, fantail, from, until)
    return alike.map((pair) => ({ pair, found, equal: differenceOf(pair) === undefined && isEqual(found) }))
  })
  const [same, different] = [rows.filter((row) => row.equal), rows.filter((row) => !row.equal)]
  for (const row of [...same, ...different]) show(context, row)
  const silent = twins
    .filter(({ aws, fantail }) => aws.size === 0 && fantail.size === 0)
    .reduce((sum, twin) => sum + twin.pairs.length, 0)
  out.note(`${same.length} of ${counted(rows.length, 'subscription')} get the same`)
  if (silent > 0)
    out.note(`${counted(silent, 'subscription')} got no message, so only settings were compared`)
  return different.length === 0 ? 'done' : 'differs'
}

interface Opening extends CompareFlags {
  pattern: string
  signal: AbortSignal
}

/** With `--endpoint`, of which there is one topic, webhooks are compared by requests. */
async function openTwins(
  tools: TwinTools,
  topics: (Sides & { pairs: Pair[] })[],
  { endpoint, host, port, pattern, signal }: Opening,
): Promise<Twin[]> {
  const [only] = topics
  if (endpoint === undefined || !only) return openQueueTwins(tools, topics, pattern)
  const { pairs, ...sides } = only
  const at = { ...sides, endpoint, host, port: readWhole(port, '--port', 0), signal }
  const others = pairs.filter((pair) => !isWebhook(pair))
  return [
    ...(await openRequestTwins(tools, pairs.filter(isWebhook), at)),
    ...(await openQueueTwins(tools, [{ ...sides, pairs: others }], pattern)),
  ]
}

function isWebhook({ here }: Pair): boolean {
  return PROTOCOL_TRAITS[here.protocol].endpoint.isUrl
}

interface Row {
  pair: Pair
  found: Comparison
  /** Whether the subscription gets the same from both sides. */
  equal: boolean
}

function show({ out }: CommandContext, { pair, found, equal }: Row): void {
  const { id, endpoint } = pair.here
  const topic = pair.topic.name
  const setting = differenceOf(pair) ?? null
  const { same, onlyAws, onlyFantail, differ, delayMs } = found
  const facts = [
    `${same} the same`,
    ...(onlyAws.length > 0 ? [`${onlyAws.length} at AWS only: ${firstOf(onlyAws)}`] : []),
    ...(onlyFantail.length > 0 ? [`${onlyFantail.length} at Fantail only: ${firstOf(onlyFantail)}`] : []),
    ...Object.entries(differ).map(([part, count]) => `${count} differ in ${part}`),
    ...(setting === null ? [] : [setting]),
    `median ${delayMs.aws ?? '–'} ms at AWS, ${delayMs.fantail ?? '–'} ms at Fantail`,
  ]
  const row = { topic, endpoint, subscriptionId: id, equal, setting, ...found }
  out.item(
    row,
    () => `${out.style(equal ? 'green' : 'red', `${endpoint} of ${topic}`)}  ${facts.join('; ')}`,
    id,
  )
}

function firstOf(ids: string[]): string {
  return ids.slice(0, IDS_SHOWN_MAX).join(', ')
}
