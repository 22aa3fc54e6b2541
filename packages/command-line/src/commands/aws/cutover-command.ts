/** `fantail cutover` switches subscriptions from AWS to Fantail, or back. */
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { collect } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { failureText } from '../../frame/failure-text.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { openAwsTopic } from './aws-topic.ts'
import { goBack } from './cutover-back.ts'
import { type CutoverTools, cutOver, isDiscarded } from './cutover-steps.ts'
import {
  type CutoverFlags,
  failedOne,
  missingBridge,
  readWanted,
  show,
  sideOf,
  type Wanted,
} from './cutover-wanted.ts'
import { differenceOf, type Pair } from './subscription-pairs.ts'

export const cutover: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option('--endpoint <endpoint>', 'switches the subscription of this endpoint (again for more)', collect)
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
  )
}

async function runCutover(context: CommandContext, arn: string, flags: CutoverFlags): Promise<ExitName> {
  if (!flags.all && !flags.endpoint) throw new CommandError('usage', 'give --endpoint, or --all')
  const topic = openAwsTopic(arn, context)
  try {
    const tools = { topic, client: await context.api(), signal: context.signal }
    const wanted = await readWanted(context, tools, flags)
    if (flags.plan) return showPlan(context, wanted, missingBridge(topic, wanted, flags))
    // The clients are closed only when this has ended.
    return await (flags.back ? goBack(context, tools, wanted, flags) : goOver(context, tools, wanted, flags))
  } finally {
    topic.close()
  }
}

function showPlan({ out }: CommandContext, { pairs }: Wanted, missing: CommandError | undefined): ExitName {
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
  if (missing) out.warn(failureText(missing))
  const isFit = missing === undefined && pairs.every((pair) => differenceOf(pair) === undefined)
  return isFit ? 'done' : 'partlyDone'
}

async function goOver(
  context: CommandContext,
  tools: CutoverTools,
  wanted: Wanted,
  flags: CutoverFlags,
): Promise<ExitName> {
  const missing = missingBridge(tools.topic, wanted, flags)
  if (missing) throw missing
  const { pairs, bridge } = wanted
  const hasBridge = bridge !== undefined
  const fit = pairs.filter((pair) => !refuse(context, pair))
  const waiting = fit
    .filter((pair) => isDiscarded(pair, hasBridge))
    .reduce((sum, { here }) => sum + here.lane.waiting, 0)
  const [switched, discarded] = [counted(fit.length, 'subscription'), counted(waiting, 'waiting message')]
  await confirm(`switch ${switched} to Fantail, and discard ${discarded} that AWS delivers`, context)
  let failed = pairs.length - fit.length
  for (const pair of fit) {
    try {
      show(context, pair, { side: 'fantail', twice: await cutOver(tools, pair, hasBridge) })
    } catch (error) {
      failed += failedOne(context, pair, error)
    }
  }
  return failed === 0 ? 'done' : 'partlyDone'
}

function refuse({ out }: CommandContext, pair: Pair): boolean {
  const problem = differenceOf(pair)
  if (problem !== undefined) out.warn(`${pair.here.endpoint} was not switched: ${problem}`)
  return problem !== undefined
}
