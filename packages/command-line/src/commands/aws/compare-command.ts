/**
 * `fantail compare` shows what subscribers get from AWS and from Fantail, and what differs. It collects the messages of
 * both sides beside the subscriptions, so no endpoint notices it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { UnsubscribeCommand } from '@aws-sdk/client-sns'
import { type Client, deleteSubscription } from '@fantail/client/api'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { connectLate } from '../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { failureText } from '../../frame/failure-text.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import { type AwsTopic, openAwsTopic } from './aws-topic.ts'
import { type Comparison, compareArrivals, isEqual } from './compare-arrivals.ts'
import { deleteTwinQueue, isQueueTwin, openQueueTwins, type Twin, type Undo } from './queue-twins.ts'
import { isRequestTwin, openRequestTwins } from './request-twins.ts'
import { differenceOf, type Pair, readPairs } from './subscription-pairs.ts'

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
    .argument('<topic-arn>', 'ARN of the topic at AWS')
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
    'compare arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://compare.example.com/ --port 8080',
    'compare arn:aws:sns:eu-west-1:123456789012:orders --end',
  )
}

async function runCompare(context: CommandContext, arn: string, flags: CompareFlags): Promise<ExitName> {
  const topic = openAwsTopic(arn, context)
  const undo: Undo[] = []
  try {
    const { signal } = context
    const client = connectLate({ ...(await context.server()), signal, graceMs: TWINS_REMOVED_MS_MAX })
    if (flags.end) return await endCompare(context, { topic, client, flags })
    return await compareTopic(context, topic, { ...flags, client, undo })
  } finally {
    for (const { what, remove } of undo.toReversed())
      await remove().catch((error) => context.out.warn(`${what} was not removed: ${failureText(error)}`))
    topic.close()
  }
}

/** Removes the twins of comparisons that were killed. Those of a comparison under way end too. */
async function endCompare(
  { out }: CommandContext,
  { topic, client, flags }: { topic: AwsTopic; client: Client; flags: CompareFlags },
): Promise<ExitName> {
  const { pairs, onlyAws, onlyHere } = await readPairs(topic, client, flags.to)
  const isTwin = ({ endpoint }: { endpoint: string }) =>
    isQueueTwin(endpoint) || (flags.endpoint !== undefined && isRequestTwin(endpoint, flags.endpoint))
  const show = (unsubscribed: string) =>
    out.item({ unsubscribed }, () => `unsubscribed ${unsubscribed}`, unsubscribed)
  for (const { arn, endpoint } of [...onlyAws, ...pairs.map(({ aws }) => aws)].filter(isTwin)) {
    if (isQueueTwin(endpoint)) await deleteTwinQueue(topic, endpoint)
    await topic.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
    show(endpoint)
  }
  for (const { id, endpoint } of [...onlyHere, ...pairs.map(({ here }) => here)].filter(isTwin)) {
    await deleteSubscription({ client, path: { id } })
    show(endpoint)
  }
  return 'done'
}

async function compareTopic(
  context: CommandContext,
  topic: AwsTopic,
  { client, undo, ...flags }: CompareFlags & { client: Client; undo: Undo[] },
): Promise<ExitName> {
  const [duringMs, tailMs] = [parseDuration(flags.during, '--during'), parseDuration(flags.tail, '--tail')]
  const { out, signal } = context
  const server = await context.server()
  const to = flags.to ?? topic.name
  const { pairs, onlyAws, onlyHere } = await readPairs(topic, client, to)
  for (const { endpoint } of onlyAws) out.warn(`${endpoint} is subscribed at AWS only`)
  for (const { endpoint } of onlyHere) out.warn(`${endpoint} is subscribed at Fantail only`)
  if (pairs.length === 0) throw new CommandError('notFound', 'no endpoint is subscribed on both sides')
  const tools = { topic, client, server, to, undo }
  const { endpoint } = flags
  const byRequests = endpoint === undefined ? [] : pairs.filter(isWebhook)
  const at = { endpoint: endpoint ?? '', host: flags.host, port: readWhole(flags.port, '--port', 0), signal }
  const twins: Twin[] = [
    ...(await openRequestTwins(tools, byRequests, at)),
    ...(await openQueueTwins(
      tools,
      pairs.filter((pair) => !byRequests.includes(pair)),
    )),
  ]
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
  const unequal = twins.flatMap(({ aws, fantail, pairs: alike }) => {
    const found = compareArrivals(aws, fantail, from, until)
    return alike.filter((pair) => !show(context, pair, found))
  })
  return unequal.length === 0 ? 'done' : 'differs'
}

function isWebhook({ here }: Pair): boolean {
  return PROTOCOL_TRAITS[here.protocol].endpoint.isUrl
}

/** Prints the comparison. Returns whether the subscription gets the same from both sides. */
function show({ out }: CommandContext, pair: Pair, found: Comparison): boolean {
  const { id, endpoint } = pair.here
  const setting = differenceOf(pair) ?? null
  const equal = setting === null && isEqual(found)
  const { same, onlyAws, onlyFantail, differ, delayMs } = found
  const facts = [
    `${same} the same`,
    ...(onlyAws.length > 0 ? [`${onlyAws.length} at AWS only: ${firstOf(onlyAws)}`] : []),
    ...(onlyFantail.length > 0 ? [`${onlyFantail.length} at Fantail only: ${firstOf(onlyFantail)}`] : []),
    ...Object.entries(differ).map(([part, count]) => `${count} differ in ${part}`),
    ...(setting === null ? [] : [setting]),
    `median ${delayMs.aws ?? '–'} ms at AWS, ${delayMs.fantail ?? '–'} ms at Fantail`,
  ]
  const row = { endpoint, subscriptionId: id, equal, setting, ...found }
  out.item(row, () => `${out.style(equal ? 'green' : 'red', endpoint)}  ${facts.join('; ')}`, id)
  return equal
}

function firstOf(ids: string[]): string {
  return ids.slice(0, IDS_SHOWN_MAX).join(', ')
}
