/** The way back of `fantail cutover`: from Fantail to AWS. */
import { setTimeout as delay } from 'node:timers/promises'
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../frame/command-context.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import type { ExitName } from '../../output/exit-codes.ts'
import { type AwsTopic, CALLS_AT_ONCE } from './aws-topic.ts'
import { bridgeCaughtUp } from './bridge-queue.ts'
import { type CutoverTools, leaveFantail, returnToAws } from './cutover-steps.ts'
import { bridgeOf, type CutoverFlags, eachPair, show, sideOf, type Wanted } from './cutover-wanted.ts'
import type { Pair } from './subscription-pairs.ts'

/**
 * How long a copy may be at Fantail and in no lane. A worker fetches messages at once, or the verdict says within 5 s
 * that it does not, and a first attempt without an answer is in the lane after a second.
 */
const UNSEEN_MS = 7_000

export async function goBack(
  context: CommandContext,
  tools: CutoverTools,
  wanted: Wanted,
  flags: CutoverFlags,
): Promise<ExitName> {
  const settleMs = parseDuration(flags.settle, '--settle')
  const drainMs = parseDuration(flags.drain, '--drain')
  const { pairs, bridges } = wanted
  const moving = pairs.filter((pair) => sideOf(pair) !== 'aws')
  const from = new Date()
  for (const pair of pairs.filter((one) => !moving.includes(one)))
    show(context, pair, { side: 'aws', twice: null })
  const progress = context.out.progress('subscriptions that AWS delivers to again')
  let count = 0
  const on = await eachPair(context, moving, async (pair) => {
    await returnToAws(tools, pair)
    progress.update(++count, moving.length)
  })
  progress.end()
  if (on.length === 0) return moving.length === 0 ? 'done' : 'partlyDone'
  const leaving = on.filter(({ topic }) => bridges.has(topic))
  const staying = stayOn(
    context,
    on.filter(({ topic }) => !bridges.has(topic)),
    flags,
  )
  const left =
    leaving.length === 0
      ? []
      : await leaveAll(context, tools, { on: leaving, from, bridges, settleMs, drainMs })
  return left.length + staying.length === moving.length ? 'done' : 'partlyDone'
}

/**
 * Without a bridge each message is published at one of the sides, so both stay on. Returns those for which this is as
 * it should be.
 */
function stayOn(context: CommandContext, on: Pair[], flags: CutoverFlags): Pair[] {
  for (const pair of on) show(context, pair, { side: 'both', twice: null })
  if (flags.bridge === false) return on
  for (const topic of new Set(on.map((pair) => pair.topic)))
    context.out.warn(
      `no bridge ${bridgeOf(topic, flags)} is subscribed at AWS, so the subscriptions stay on at both sides`,
    )
  return []
}

interface Leaving {
  on: Pair[]
  from: Date
  bridges: Wanted['bridges']
  settleMs: number
  drainMs: number
}

/** Resolves with the subscriptions that have left Fantail. The others stay on at both sides. */
async function leaveAll(
  context: CommandContext,
  tools: CutoverTools,
  { on, from, bridges, settleMs, drainMs }: Leaving,
): Promise<Pair[]> {
  const { signal } = tools
  context.out.note(
    `AWS is on again. Fantail goes on for ${durationText(settleMs)}, until AWS surely delivers.`,
  )
  await delay(settleMs, undefined, { signal })
  const until = Date.now() + drainMs
  const copied = new Map<AwsTopic, Promise<number>>()
  // A failure is told for each subscription of the topic.
  await sideBySide([...new Set(on.map(({ topic }) => topic))], CALLS_AT_ONCE, async (topic) => {
    const bridge = bridges.get(topic)
    if (!bridge) return
    const at = bridgeCaughtUp(topic, bridge, { until, signal }).then(() => Date.now())
    copied.set(topic, at)
    await at.catch(() => undefined)
  })
  await delay(Math.min(settleMs, UNSEEN_MS), undefined, { signal })
  return eachPair(context, on, async (pair) => {
    const since = await copied.get(pair.topic)
    if (since === undefined || !(await leaveFantail(tools, pair, { since, until })))
      throw new Error('older messages still wait at Fantail; run it again')
    show(context, pair, { side: 'aws', twice: { from, until: new Date() } })
  })
}
