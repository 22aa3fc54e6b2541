/** The way back of `fantail cutover`: from Fantail to AWS. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CommandContext } from '../../../frame/command-context.ts'
import { durationText, parseDuration } from '../../../output/durations.ts'
import { CommandError, type ExitName } from '../../../output/exit-codes.ts'
import type { AwsTopic } from '../aws-topic.ts'
import { hasCopiedAll, queueOfBridge } from '../bridge-queue.ts'
import type { Pair } from '../subscription-pairs.ts'
import { type CutoverTools, leaveFantail, returnToAws } from './cutover-steps.ts'
import {
  bridgeOf,
  type CutoverFlags,
  eachPair,
  inTurns,
  notSwitched,
  show,
  sideOf,
  type Wanted,
} from './cutover-wanted.ts'

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
  const unseenMs = Math.min(settleMs, UNSEEN_MS)
  const copiedAt = new Map<AwsTopic, number>()
  const failures = new Map<AwsTopic, unknown>()
  const hasCopied = async (topic: AwsTopic) => {
    const bridge = bridges.get(topic)
    if (bridge && !(await hasCopiedAll(topic, bridge))) {
      if (Date.now() <= until) return false
      const queue = queueOfBridge(bridge)
      throw new CommandError('conflict', `the bridge has not yet copied what is in the queue ${queue}`)
    }
    copiedAt.set(topic, Date.now())
    return true
  }
  const hasLeft = async (pair: Pair) => {
    // A failure is told for each subscription of the topic.
    if (failures.has(pair.topic)) throw failures.get(pair.topic)
    const since = copiedAt.get(pair.topic)
    if (since === undefined || Date.now() < since + unseenMs) return false
    if (await leaveFantail(tools, pair, since)) {
      show(context, pair, { side: 'aws', twice: { from, until: new Date() } })
      return true
    }
    if (Date.now() <= until) return false
    throw new Error('older messages still wait at Fantail; run it again')
  }
  const topics = [...new Set(on.map(({ topic }) => topic))]
  const [, left] = await Promise.all([
    inTurns(topics, hasCopied, { signal, failed: (topic, error) => failures.set(topic, error) }),
    inTurns(on, hasLeft, { signal, failed: (pair, error) => notSwitched(context, pair, error) }),
  ])
  return left
}
