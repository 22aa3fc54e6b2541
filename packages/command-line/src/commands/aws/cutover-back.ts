/** The way back of `fantail cutover`: from Fantail to AWS. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CommandContext } from '../../frame/command-context.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import type { ExitName } from '../../output/exit-codes.ts'
import type { AwsSubscription } from './aws-topic.ts'
import { bridgeCaughtUp } from './bridge-queue.ts'
import { type CutoverTools, leaveFantail, returnToAws } from './cutover-steps.ts'
import { bridgeOf, type CutoverFlags, failedOne, show, sideOf, type Wanted } from './cutover-wanted.ts'
import type { Pair } from './subscription-pairs.ts'

/**
 * How long a copy may be at Fantail and in no lane. A worker fetches messages at once, or the verdict says within 5 s
 * that it does not, and a first attempt without an answer is in the lane after a second.
 */
const UNSEEN_MS = 7_000

export async function goBack(
  context: CommandContext,
  tools: CutoverTools,
  { pairs, bridge }: Wanted,
  flags: CutoverFlags,
): Promise<ExitName> {
  const settleMs = parseDuration(flags.settle, '--settle')
  const drainMs = parseDuration(flags.drain, '--drain')
  const moving = pairs.filter((pair) => sideOf(pair) !== 'aws')
  const from = new Date()
  for (const pair of pairs.filter((one) => !moving.includes(one)))
    show(context, pair, { side: 'aws', twice: null })
  const on = await eachPair(context, moving, (pair) => returnToAws(tools, pair))
  if (on.length === 0) return moving.length === 0 ? 'done' : 'partlyDone'
  const done =
    bridge === undefined
      ? stayOn(context, on, flags.bridge === false ? undefined : bridgeOf(tools.topic, flags))
      : await leaveAll(context, tools, { on, from, bridge, settleMs, drainMs })
  return done.length === moving.length ? 'done' : 'partlyDone'
}

/**
 * Without a bridge each message is published at one of the sides, so both stay on. `missing` is a bridge that should be
 * there. Returns those for which this is as it should be.
 */
function stayOn(context: CommandContext, on: Pair[], missing: string | undefined): Pair[] {
  for (const pair of on) show(context, pair, { side: 'both', twice: null })
  if (missing === undefined) return on
  context.out.warn(`no bridge ${missing} is subscribed at AWS, so the subscriptions stay on at both sides`)
  return []
}

interface Leaving {
  on: Pair[]
  from: Date
  bridge: AwsSubscription
  settleMs: number
  drainMs: number
}

/** Resolves with the subscriptions that have left Fantail. The others stay on at both sides. */
async function leaveAll(
  context: CommandContext,
  tools: CutoverTools,
  { on, from, bridge, settleMs, drainMs }: Leaving,
): Promise<Pair[]> {
  const { signal } = tools
  context.out.note(
    `AWS is on again. Fantail goes on for ${durationText(settleMs)}, until AWS surely delivers.`,
  )
  await delay(settleMs, undefined, { signal })
  const until = Date.now() + drainMs
  const copied = bridgeCaughtUp(tools.topic, bridge, { until, signal }).then(() => Date.now())
  // It is awaited for each subscription, so that each of them tells the failure.
  await copied.catch(() => undefined)
  await delay(Math.min(settleMs, UNSEEN_MS), undefined, { signal })
  return eachPair(context, on, async (pair) => {
    if (!(await leaveFantail(tools, pair, { since: await copied, until })))
      throw new Error('older messages still wait at Fantail; run it again')
    show(context, pair, { side: 'aws', twice: { from, until: new Date() } })
  })
}

/** Resolves with those for which it was done. */
async function eachPair(
  context: CommandContext,
  pairs: Pair[],
  act: (pair: Pair) => Promise<void>,
): Promise<Pair[]> {
  const done: Pair[] = []
  for (const pair of pairs) {
    try {
      await act(pair)
      done.push(pair)
    } catch (error) {
      failedOne(context, pair, error)
    }
  }
  return done
}
