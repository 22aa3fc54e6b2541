/** `fantail cutover` switches subscriptions from AWS to Fantail, or back. */
import { setTimeout as delay } from 'node:timers/promises'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { collect } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { failureText } from '../../frame/failure-text.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { openAwsTopic } from './aws-topic.ts'
import { type CutoverTools, cutOver, leaveFantail, returnToAws, type Twice } from './cutover-steps.ts'
import { differenceOf, isOff, type Pair, readPairs } from './subscription-pairs.ts'

interface CutoverFlags {
  to?: string
  endpoint?: string[]
  all?: boolean
  back?: boolean
  plan?: boolean
  settle: string
  drain: string
}

export const cutover: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option('--endpoint <endpoint>', 'switches the subscription of this endpoint (again for more)', collect)
    .option('--all', 'switches every subscription that both sides have')
    .option('--back', 'switches back to AWS')
    .option('--plan', 'only shows where each subscription is, and what would be switched')
    .option('--settle <time>', 'with --back: how long SNS needs until it surely delivers again', '15m')
    .option('--drain <time>', 'with --back: how long older messages may still wait at Fantail', '1m')
    .action(does(runCutover))
  examples(
    command,
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --plan',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://crm.example.com/in',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --yes',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --back',
  )
}

type Side = 'aws' | 'fantail' | 'both' | 'none'

function sideOf({ aws, here }: Pair): Side {
  const isHere = here.status === 'active'
  if (isOff(aws)) return isHere ? 'fantail' : 'none'
  return isHere ? 'both' : 'aws'
}

async function runCutover(context: CommandContext, arn: string, flags: CutoverFlags): Promise<ExitName> {
  if (!flags.all && !flags.endpoint) throw new CommandError('usage', 'give --endpoint, or --all')
  const topic = openAwsTopic(arn, context)
  try {
    const tools = { topic, client: await context.api(), signal: context.signal }
    const { pairs, onlyAws } = await readPairs(topic, tools.client, flags.to)
    for (const { endpoint } of onlyAws) context.out.warn(`${endpoint} is subscribed at AWS only`)
    if (onlyAws.length === 0)
      context.out.warn('no bridge is subscribed: messages of AWS do not reach Fantail')
    const wanted = pairs.filter(({ aws }) => flags.all || flags.endpoint?.includes(aws.endpoint))
    const missing = flags.endpoint?.filter((one) => !wanted.some(({ aws }) => aws.endpoint === one)) ?? []
    if (missing.length > 0)
      throw new CommandError('notFound', `both sides do not have ${missing.join(', ')}`, 'Import it first.')
    if (flags.plan) return showPlan(context, wanted)
    // The clients are closed only when this has ended.
    return await (flags.back ? goBack(context, tools, wanted, flags) : goOver(context, tools, wanted))
  } finally {
    topic.close()
  }
}

function showPlan({ out }: CommandContext, pairs: Pair[]): ExitName {
  for (const pair of pairs) {
    const { endpoint, id, lane } = pair.here
    const [side, problem] = [sideOf(pair), differenceOf(pair) ?? null]
    const row = { endpoint, subscriptionId: id, side, waiting: lane.waiting, problem }
    out.item(
      row,
      () => [side.padEnd(8), endpoint, problem ? `cannot be switched: ${problem}` : ''].join(' '),
      id,
    )
  }
  return pairs.some((pair) => differenceOf(pair) !== undefined) ? 'partlyDone' : 'done'
}

async function goOver(context: CommandContext, tools: CutoverTools, pairs: Pair[]): Promise<ExitName> {
  const fit = pairs.filter((pair) => !refuse(context, pair))
  const waiting = fit
    .filter((pair) => sideOf(pair) === 'aws')
    .reduce((sum, { here }) => sum + here.lane.waiting, 0)
  const [switched, discarded] = [counted(fit.length, 'subscription'), counted(waiting, 'waiting message')]
  await confirm(`switch ${switched} to Fantail, and discard ${discarded} that AWS delivers`, context)
  let failed = pairs.length - fit.length
  for (const pair of fit) {
    try {
      show(context, pair, { side: 'fantail', twice: await cutOver(tools, pair) })
    } catch (error) {
      failed += failedOne(context, pair, error)
    }
  }
  return failed === 0 ? 'done' : 'partlyDone'
}

async function goBack(
  context: CommandContext,
  tools: CutoverTools,
  pairs: Pair[],
  { settle, drain }: CutoverFlags,
): Promise<ExitName> {
  const settleMs = parseDuration(settle, '--settle')
  const drainMs = parseDuration(drain, '--drain')
  const moving = pairs.filter((pair) => sideOf(pair) !== 'aws')
  let failed = 0
  const from = new Date()
  const on: Pair[] = []
  for (const pair of moving) {
    try {
      await returnToAws(tools, pair)
      on.push(pair)
    } catch (error) {
      failed += failedOne(context, pair, error)
    }
  }
  if (on.length > 0) {
    context.out.note(
      `AWS is on again. Fantail goes on for ${durationText(settleMs)}, until AWS surely delivers.`,
    )
    await delay(settleMs, undefined, { signal: context.signal })
  }
  const since = Date.now()
  for (const pair of on) {
    const hasLeft = await leaveFantail(tools, pair, { since, until: Date.now() + drainMs })
    if (hasLeft) show(context, pair, { side: 'aws', twice: { from, until: new Date() } })
    else failed += failedOne(context, pair, new Error('older messages still wait at Fantail; run it again'))
  }
  for (const pair of pairs.filter((one) => !moving.includes(one)))
    show(context, pair, { side: 'aws', twice: null })
  return failed === 0 ? 'done' : 'partlyDone'
}

function refuse({ out }: CommandContext, pair: Pair): boolean {
  const problem = differenceOf(pair)
  if (problem !== undefined) out.warn(`${pair.here.endpoint} was not switched: ${problem}`)
  return problem !== undefined
}

function failedOne({ out, signal }: CommandContext, { here }: Pair, error: unknown): 1 {
  signal.throwIfAborted()
  out.warn(`${here.endpoint} was not switched: ${failureText(error)}`)
  return 1
}

function show(
  { out }: CommandContext,
  { here }: Pair,
  { side, twice }: { side: Side; twice: Twice | null },
): void {
  const { id, endpoint } = here
  const times = twice && { from: twice.from.toISOString(), until: twice.until.toISOString() }
  const row = { endpoint, subscriptionId: id, side, mayComeTwice: times }
  const text = times
    ? `published from ${times.from} to ${times.until} may come twice, with the same id`
    : 'was there before'
  out.item(row, () => `${side.padEnd(8)} ${endpoint}  ${text}`, id)
}
