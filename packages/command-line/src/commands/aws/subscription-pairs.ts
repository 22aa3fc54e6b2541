/** Subscriptions that exist at AWS and at Fantail: with the same endpoint, of topics with the same name. */
import { isDeepStrictEqual } from 'node:util'
import { type Client, listTopicSubscriptions, type Subscription } from '@fantail/client/api'
import { objectOf } from '@fantail/contracts'
import type { CommandContext } from '../../frame/command-context.ts'
import { pagesOf } from '../../frame/list-command.ts'
import { ApiRefusal, CommandError } from '../../output/exit-codes.ts'
import { type AwsSubscription, type AwsTopic, type AwsTopics, confirmedSubscriptions } from './aws-topic.ts'

export interface Pair {
  topic: AwsTopic
  aws: AwsSubscription
  here: Subscription
}

interface Pairs {
  topic: AwsTopic
  pairs: Pair[]
  /** Endpoints that only one side has. */
  onlyAws: AwsSubscription[]
  onlyHere: Subscription[]
}

export async function readPairs(topic: AwsTopic, client: Client, name = topic.name): Promise<Pairs> {
  const read = (query: object) => listTopicSubscriptions({ client, path: { topic: name }, query })
  const here: Subscription[] = []
  for await (const page of pagesOf(read, ({ subscriptions }) => subscriptions)) here.push(...page)
  const byEndpoint = new Map(here.map((one) => [`${one.protocol} ${one.endpoint}`, one]))
  const aws = await confirmedSubscriptions(topic)
  const pairs = aws.flatMap((one) => {
    const other = byEndpoint.get(`${one.protocol} ${one.endpoint}`)
    return other ? [{ topic, aws: one, here: other }] : []
  })
  return {
    topic,
    pairs,
    onlyAws: aws.filter((one) => !pairs.some((pair) => pair.aws === one)),
    onlyHere: here.filter((one) => !pairs.some((pair) => pair.here === one)),
  }
}

/** The pairs of all topics. A topic of a pattern that does not exist at Fantail is left out. */
export async function readAllPairs(
  { out, signal }: Pick<CommandContext, 'out' | 'signal'>,
  { topics, pattern }: AwsTopics,
  client: Client,
  name: string | undefined,
): Promise<Pairs[]> {
  const progress = out.progress('topics read')
  const found: Pairs[] = []
  try {
    for (const [index, topic] of topics.entries()) {
      signal.throwIfAborted()
      progress.update(index, topics.length)
      try {
        found.push(await readPairs(topic, client, name))
      } catch (error) {
        if (topics.length === 1 || !(error instanceof ApiRefusal && error.status === 404)) throw error
        out.warn(`${topic.name} does not exist at Fantail`)
      }
    }
  } finally {
    progress.end()
  }
  if (found.length === 0) throw new CommandError('notFound', `no topic of ${pattern} exists at Fantail`)
  return found
}

/**
 * The member of a filter policy that matches no message. With it a subscription at AWS gets nothing, and still needs no
 * new confirmation when it is switched on again.
 */
const OFF = 'fantail-cutover'
export const OFF_POLICY = JSON.stringify({ [OFF]: ['off'] })

export function isOff({ attributes }: Pick<AwsSubscription, 'attributes'>): boolean {
  return Object.hasOwn(filterOf(attributes) ?? {}, OFF)
}

function filterOf({ FilterPolicy }: Record<string, string>): object | null {
  return (FilterPolicy && objectOf(FilterPolicy)) || null
}

/**
 * The member of the metadata at Fantail that says that only Fantail delivers, or did so until lately. The lane may then
 * have messages that AWS never sends. It is set before AWS is switched off, and removed when none of them waits.
 */
export function isAlone({ metadata }: Subscription): boolean {
  return Object.hasOwn(metadata, OFF)
}

/** Metadata with that member, or without it. A change of a subscription replaces all metadata. */
export function markedAlone({ metadata }: Subscription, alone: boolean): Record<string, string> {
  const { [OFF]: _, ...others } = metadata
  return { ...others, ...(alone && { [OFF]: 'alone' }) }
}

/** The filter policy of Fantail, as SNS takes it. An empty one removes the policy. */
export function filterOfHere({ filterPolicy }: Subscription): string {
  return JSON.stringify(filterPolicy ?? {})
}

/** Why the subscription cannot be switched without a change of what it gets. Undefined: it can be. */
export function differenceOf({ aws, here }: Pair): string | undefined {
  if (here.status === 'pending') return 'it is not confirmed at Fantail'
  const raw = aws.attributes.RawMessageDelivery === 'true'
  if (raw !== here.rawMessageDelivery) return 'raw delivery differs'
  if (isOff(aws)) return undefined
  const filter = JSON.parse(filterOfHere(here)) as object
  if (!isDeepStrictEqual(filterOf(aws.attributes) ?? {}, filter)) return 'the filter policies differ'
  const scope = aws.attributes.FilterPolicyScope ?? 'MessageAttributes'
  const hasFilter = Object.keys(filter).length > 0
  return hasFilter && scope !== here.filterPolicyScope
    ? 'the scopes of the filter policies differ'
    : undefined
}
