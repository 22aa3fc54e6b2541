/** Which subscriptions a cutover switches, on which side they are, and how it tells the result of each. */
import { setTimeout as delay } from 'node:timers/promises'
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../../frame/command-context.ts'
import { failureText } from '../../../frame/failure-text.ts'
import { CommandError } from '../../../output/exit-codes.ts'
import { type AwsSubscription, type AwsTopic, type AwsTopics, CALLS_AT_ONCE } from '../aws-topic.ts'
import { bridgeQueueName, bridgesAmong } from '../bridge-queue.ts'
import { isAlone, isOff, type Pair, readAllPairs } from '../subscription-pairs.ts'
import type { CutoverTools, Twice } from './cutover-steps.ts'

export interface CutoverFlags {
  to?: string
  endpoint?: string[]
  all?: boolean
  /** false: there is none. */
  bridge?: string | false
  back?: boolean
  plan?: boolean
  settle: string
  drain: string
}

type Side = 'aws' | 'fantail' | 'both' | 'none'

/** A paused lane that may have the only copies has not left Fantail. */
export function sideOf({ aws, here }: Pair): Side {
  const isHere = here.status === 'active'
  if (isOff(aws)) return isHere ? 'fantail' : 'none'
  return isHere || isAlone(here) ? 'both' : 'aws'
}

export interface Wanted {
  pairs: Pair[]
  /** By topic. A topic is missing if no bridge is subscribed to it, or if there shall be none. */
  bridges: Map<AwsTopic, AwsSubscription>
  /** Topics whose subscriptions are switched. */
  topics: AwsTopic[]
}

export async function readWanted(
  context: CommandContext,
  opened: AwsTopics,
  { client }: CutoverTools,
  flags: CutoverFlags,
): Promise<Wanted> {
  const pairs: Pair[] = []
  const bridges: Wanted['bridges'] = new Map()
  for (const { topic, pairs: all, onlyAws } of await readAllPairs(context, opened, client, flags.to)) {
    const own = flags.bridge === false ? [] : bridgesAmong(onlyAws, bridgeOf(topic, flags))
    for (const one of onlyAws)
      if (!own.includes(one)) context.out.warn(`${one.endpoint} of ${topic.name} is subscribed at AWS only`)
    if (own[0]) bridges.set(topic, own[0])
    pairs.push(...all.filter(({ aws }) => flags.all || flags.endpoint?.some((one) => isNamed(aws, one))))
  }
  const missing = flags.endpoint?.filter((one) => !pairs.some(({ aws }) => isNamed(aws, one))) ?? []
  if (missing.length > 0)
    throw new CommandError(
      'notFound',
      `only subscriptions of both sides can be switched, and ${missing.join(', ')} is not one`,
      'Import it first.',
    )
  return { pairs, bridges, topics: [...new Set(pairs.map(({ topic }) => topic))] }
}

/** An endpoint with `*` names all that begin and end alike, such as those of one host. */
function isNamed({ endpoint }: AwsSubscription, named: string): boolean {
  const [first = '', ...rest] = named.split('*')
  const last = rest.pop()
  if (last === undefined) return endpoint === named
  let at = first.length
  for (const part of rest) {
    const found = endpoint.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return endpoint.startsWith(first) && endpoint.endsWith(last) && endpoint.length - last.length >= at
}

export function bridgeOf(topic: AwsTopic, { bridge }: CutoverFlags): string {
  return bridge || bridgeQueueName(topic)
}

/** Bridges that an error names. */
const MISSING_SHOWN_MAX = 3

/** Without a bridge, what is published at AWS would reach nobody. Undefined: each topic has one, or none is needed. */
export function missingBridge({ topics, bridges }: Wanted, flags: CutoverFlags): CommandError | undefined {
  const missing = flags.bridge === false ? [] : topics.filter((topic) => !bridges.has(topic))
  if (missing.length === 0) return undefined
  const names = missing.slice(0, MISSING_SHOWN_MAX).map((topic) => bridgeOf(topic, flags))
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : ''
  return new CommandError(
    'conflict',
    `no bridge ${names.join(', ')}${more} is subscribed at AWS, so messages would be lost`,
    'Start `fantail bridge TOPIC-ARN`, or name its queue with --bridge. If publishers publish at Fantail, add --no-bridge.',
  )
}

/** Pause between two looks at the same item. */
const TURN_LOOK_MS = 200

interface Turns<Item> {
  signal: AbortSignal
  /** Called if a look fails, which is then the last one at the item. */
  failed(item: Item, error: unknown): void
}

/**
 * Looks at several items at a time, and at all again and again until each is done or has failed, so that a busy item
 * keeps no other waiting. A look fails when its item has no more time. Resolves with the items that are done.
 */
export async function inTurns<Item>(
  items: readonly Item[],
  isDone: (item: Item) => Promise<boolean>,
  { signal, failed }: Turns<Item>,
): Promise<Item[]> {
  const done = new Set<Item>()
  let rest = items
  for (;;) {
    const again = await sideBySide(rest, CALLS_AT_ONCE, async (item) => {
      signal.throwIfAborted()
      try {
        if (!(await isDone(item))) return [item]
        done.add(item)
      } catch (error) {
        signal.throwIfAborted()
        failed(item, error)
      }
      return []
    })
    rest = again.flat()
    if (rest.length === 0) return items.filter((item) => done.has(item))
    await delay(TURN_LOOK_MS, undefined, { signal })
  }
}

/** Does the step for several pairs at a time. Resolves with those for which it was done. */
export async function eachPair(
  context: CommandContext,
  pairs: Pair[],
  act: (pair: Pair) => Promise<void>,
): Promise<Pair[]> {
  const once = async (pair: Pair) => {
    await act(pair)
    return true
  }
  return inTurns(pairs, once, {
    signal: context.signal,
    failed: (pair, error) => notSwitched(context, pair, error),
  })
}

export function notSwitched({ out }: CommandContext, { here, topic }: Pair, error: unknown): void {
  out.warn(`${here.endpoint} of ${topic.name} was not switched: ${failureText(error)}`)
}

export function show(
  { out }: CommandContext,
  { here, topic: { name: topic } }: Pair,
  { side, twice }: { side: Side; twice: Twice | null },
): void {
  const { id, endpoint } = here
  const times = twice && { from: twice.from.toISOString(), until: twice.until.toISOString() }
  const row = { topic, endpoint, subscriptionId: id, side, mayComeTwice: times }
  const unchanged = side === 'both' ? 'gets what is published at either side' : 'was there before'
  const text = times
    ? `published from ${times.from} to ${times.until} may come twice, with the same id`
    : unchanged
  out.item(row, () => `${side.padEnd(8)} ${endpoint} of ${topic}  ${text}`, id)
}
