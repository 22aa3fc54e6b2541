/** `fantail cutover` switches subscriptions from AWS to Fantail, or back. */
import { type CommandContext, type Define, examples } from '../../../frame/command-context.ts'
import { collect } from '../../../frame/command-input.ts'
import { confirm } from '../../../frame/confirm.ts'
import { failureText } from '../../../frame/failure-text.ts'
import { CommandError, type ExitName } from '../../../output/exit-codes.ts'
import { counted } from '../../../output/text-table.ts'
import { openAwsTopics, refuseForSeveral } from '../aws-topic.ts'
import { differenceOf, type Pair } from '../subscription-pairs.ts'
import { goBack } from './cutover-back.ts'
import { type CutoverTools, cutOver, isDiscarded } from './cutover-steps.ts'
import {
  type CutoverFlags,
  eachPair,
  missingBridge,
  readWanted,
  show,
  sideOf,
  type Wanted,
} from './cutover-wanted.ts'

export const cutover: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS; `*` in its name stands for any text')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option(
      '--endpoint <endpoint>',
      'switches the subscription of this endpoint (again for more); `*` stands for any text',
      collect,
    )
    .option('--all', 'switches every subscription that both sides have')
    .option('--bridge <queue>', 'the queue or URL of the bridge; default: fantail-bridge-<topic>')
    .option('--no-bridge', 'publishers publish at Fantail, so no bridge has to copy messages')
    .option('--back', 'switches back to AWS')
    .option('--plan', 'only shows where each subscription is, and what would be switched')
    .option('--settle <time>', 'with --back: how long SNS needs until it surely delivers again', '15m')
    .option(
      '--drain <time>',
      'with --back: how long older messages may still wait until they are delivered',
      '1m',
    )
    .action(does(runCutover))
  examples(
    command,
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --plan',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://crm.example.com/in',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --yes',
    'cutover arn:aws:sns:eu-west-1:123456789012:orders --all --back',
    "cutover 'arn:aws:sns:eu-west-1:123456789012:*' --endpoint 'https://crm.example.com/*' --plan",
  )
}

async function runCutover(context: CommandContext, arn: string, flags: CutoverFlags): Promise<ExitName> {
  if (!flags.all && !flags.endpoint) throw new CommandError('usage', 'give --endpoint, or --all')
  const opened = await openAwsTopics(arn, context)
  try {
    refuseForSeveral(opened, { to: flags.to, bridge: flags.bridge })
    const tools = { client: await context.api(), signal: context.signal }
    const wanted = await readWanted(context, opened, tools, flags)
    if (flags.plan) return showPlan(context, wanted, flags)
    // The clients are closed only when this has ended.
    return await (flags.back ? goBack(context, tools, wanted, flags) : goOver(context, tools, wanted, flags))
  } finally {
    opened.close()
  }
}

function showPlan({ out }: CommandContext, wanted: Wanted, flags: CutoverFlags): ExitName {
  const { pairs, bridges } = wanted
  const missing = missingBridge(wanted, flags)
  const sides = new Map<string, number>()
  let unfit = 0
  for (const pair of pairs) {
    const { endpoint, id, lane } = pair.here
    const topic = pair.topic.name
    const [side, problem] = [sideOf(pair), differenceOf(pair) ?? null]
    const row = { topic, endpoint, subscriptionId: id, side, waiting: lane.waiting, problem }
    const next = flags.back ? backText(pair) : overText(pair, bridges.has(pair.topic))
    out.item(row, () => `${side.padEnd(8)} ${endpoint} of ${topic}  ${next}`, id)
    sides.set(side, (sides.get(side) ?? 0) + 1)
    if (problem) unfit++
  }
  if (missing) out.warn(failureText(missing))
  const counts = Array.from(sides, ([side, count]) => `${side} ${count}`).join(', ')
  out.note(`${counted(pairs.length, 'subscription')}: ${counts}; ${unfit} cannot be switched`)
  return missing === undefined && unfit === 0 ? 'done' : 'partlyDone'
}

function backText(pair: Pair): string {
  return sideOf(pair) === 'aws' ? 'stays there' : 'would be switched to AWS'
}

function overText(pair: Pair, hasBridge: boolean): string {
  const problem = differenceOf(pair)
  if (problem !== undefined) return `cannot be switched: ${problem}`
  if (sideOf(pair) === 'fantail') return 'stays there'
  const discarded = isDiscarded(pair, hasBridge) ? pair.here.lane.waiting : 0
  const waiting = counted(discarded, 'waiting message')
  return `would be switched to Fantail${discarded > 0 ? `, and ${waiting} discarded that AWS delivers` : ''}`
}

async function goOver(
  context: CommandContext,
  tools: CutoverTools,
  wanted: Wanted,
  flags: CutoverFlags,
): Promise<ExitName> {
  const missing = missingBridge(wanted, flags)
  if (missing) throw missing
  const { pairs, topics } = wanted
  const hasBridge = flags.bridge !== false
  const fit = pairs.filter((pair) => !refuse(context, pair))
  const waiting = fit
    .filter((pair) => isDiscarded(pair, hasBridge))
    .reduce((sum, { here }) => sum + here.lane.waiting, 0)
  const count = counted(fit.length, 'subscription')
  const switched = topics.length > 1 ? `${count} of ${topics.length} topics` : count
  const discarded = counted(waiting, 'waiting message')
  await confirm(`switch ${switched} to Fantail, and discard ${discarded} that AWS delivers`, context)
  const done = await eachPair(context, fit, async (pair) =>
    show(context, pair, { side: 'fantail', twice: await cutOver(tools, pair, hasBridge) }),
  )
  return done.length === pairs.length ? 'done' : 'partlyDone'
}

function refuse({ out }: CommandContext, pair: Pair): boolean {
  const problem = differenceOf(pair)
  if (problem !== undefined)
    out.warn(`${pair.here.endpoint} of ${pair.topic.name} was not switched: ${problem}`)
  return problem !== undefined
}
