/** Which subscriptions a cutover switches, on which side they are, and how it tells the result of each. */
import type { CommandContext } from '../../frame/command-context.ts'
import { failureText } from '../../frame/failure-text.ts'
import { CommandError } from '../../output/exit-codes.ts'
import type { AwsSubscription, AwsTopic } from './aws-topic.ts'
import { bridgeQueueName, bridgesAmong } from './bridge-queue.ts'
import type { CutoverTools, Twice } from './cutover-steps.ts'
import { isAlone, isOff, type Pair, readPairs } from './subscription-pairs.ts'

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
  /** Undefined: no bridge is subscribed, or there shall be none. */
  bridge: AwsSubscription | undefined
}

export async function readWanted(
  { out }: CommandContext,
  { topic, client }: CutoverTools,
  flags: CutoverFlags,
): Promise<Wanted> {
  const { pairs: all, onlyAws } = await readPairs(topic, client, flags.to)
  const bridges = flags.bridge === false ? [] : bridgesAmong(onlyAws, bridgeOf(topic, flags))
  for (const one of onlyAws) if (!bridges.includes(one)) out.warn(`${one.endpoint} is subscribed at AWS only`)
  const pairs = all.filter(({ aws }) => flags.all || flags.endpoint?.includes(aws.endpoint))
  const missing = flags.endpoint?.filter((one) => !pairs.some(({ aws }) => aws.endpoint === one)) ?? []
  if (missing.length > 0)
    throw new CommandError(
      'notFound',
      `only subscriptions of both sides can be switched, and ${missing.join(', ')} is not one`,
      'Import it first.',
    )
  return { pairs, bridge: bridges[0] }
}

export function bridgeOf(topic: AwsTopic, { bridge }: CutoverFlags): string {
  return bridge || bridgeQueueName(topic)
}

/** Without a bridge, what is published at AWS would reach nobody. Undefined: there is one, or none is needed. */
export function missingBridge(
  topic: AwsTopic,
  { bridge }: Wanted,
  flags: CutoverFlags,
): CommandError | undefined {
  if (bridge !== undefined || flags.bridge === false) return undefined
  return new CommandError(
    'conflict',
    `no bridge ${bridgeOf(topic, flags)} is subscribed at AWS, so messages would be lost`,
    'Start `fantail bridge TOPIC-ARN`, or name its queue with --bridge. If publishers publish at Fantail, add --no-bridge.',
  )
}

export function failedOne({ out, signal }: CommandContext, { here }: Pair, error: unknown): 1 {
  signal.throwIfAborted()
  out.warn(`${here.endpoint} was not switched: ${failureText(error)}`)
  return 1
}

export function show(
  { out }: CommandContext,
  { here }: Pair,
  { side, twice }: { side: Side; twice: Twice | null },
): void {
  const { id, endpoint } = here
  const times = twice && { from: twice.from.toISOString(), until: twice.until.toISOString() }
  const row = { endpoint, subscriptionId: id, side, mayComeTwice: times }
  const unchanged = side === 'both' ? 'gets what is published at either side' : 'was there before'
  const text = times
    ? `published from ${times.from} to ${times.until} may come twice, with the same id`
    : unchanged
  out.item(row, () => `${side.padEnd(8)} ${endpoint}  ${text}`, id)
}
