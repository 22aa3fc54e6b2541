/** Plans the steps that make a server equal to a file. It is pure, so it is tested without a server. */
import { isDeepStrictEqual } from 'node:util'
import { nameOfArn } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import { inQueueOrder } from './queue-order.ts'
import {
  FIXED,
  type Found,
  type FoundSubscription,
  INITIAL,
  type State,
  type SubscriptionState,
} from './state-file.ts'

export type Kind = 'queue' | 'topic' | 'eventType' | 'subscription'

export interface Step {
  act: 'create' | 'change' | 'delete'
  kind: Kind
  /** Name of a queue, topic or event type; the endpoint of a subscription. */
  name: string
  /** The topic of a subscription or event type. Other kinds have none. */
  topic?: string
  /** The id of a subscription that exists. */
  id?: string
  settings: Record<string, unknown>
  /** The present value of each changed setting. */
  before?: Record<string, unknown>
}

interface PlanOptions {
  /**
   * Also deletes everything that the file does not name, with subscriptions of its topics. A text: only of topics and
   * queues whose names begin with it.
   */
  prune: boolean | string
  /** Whether the server has a setting of the file. Default: they are equal. */
  isStored?: IsStored
}

type IsStored = (kind: Kind, member: string, wanted: unknown, present: Record<string, unknown>) => boolean

const isEqual: IsStored = (_, member, wanted, present) => isDeepStrictEqual(wanted, present[member])

export function planOf(wanted: State, found: Found, { prune, isStored = isEqual }: PlanOptions): Step[] {
  const difference: Difference = (...sides) => differenceOf(isStored, ...sides)
  const steps = queueSteps(wanted, found, difference)
  for (const { name, settings } of wanted.topics) {
    const present = found.topics.find((other) => other.name === name)
    steps.push(...difference({ kind: 'topic', name }, settings ?? {}, present?.settings))
  }
  for (const { name: topic, eventTypes = [], subscriptions } of wanted.topics) {
    const present = found.topics.find(({ name }) => name === topic)
    for (const { name, settings } of eventTypes) {
      const own = present?.eventTypes?.find((other) => other.name === name)
      steps.push(...difference({ kind: 'eventType', name, topic }, settings ?? {}, own?.settings))
    }
    for (const subscription of subscriptions)
      steps.push(
        ...subscriptionSteps({ topic, wanted: subscription }, present?.subscriptions ?? [], difference),
      )
  }
  if (prune === false) return steps
  return [...steps, ...leftOver(wanted, beginningWith(prune === true ? '' : prune, found))]
}

function beginningWith(prefix: string, { queues, topics, ...rest }: Found): Found {
  const isMeant = ({ name }: { name: string }) => nameOfArn(name).startsWith(prefix)
  return { ...rest, queues: queues.filter(isMeant), topics: topics.filter(isMeant) }
}

function queueSteps(wanted: State, found: Found, difference: Difference): Step[] {
  const present = [...found.queues, ...(found.topicQueues ?? [])]
  const presentOf = (name: string) => present.find((other) => other.name === name)?.settings
  const { queues, later } = inQueueOrder(wanted.queues)
  const first = queues.flatMap((queue) => {
    const { redrivePolicy, ...others } = queue.settings ?? {}
    const settings = later.has(queue) ? others : (queue.settings ?? {})
    return difference({ kind: 'queue', name: queue.name }, settings, presentOf(queue.name))
  })
  const closing = [...later].flatMap(({ name, settings: { redrivePolicy } }) =>
    difference({ kind: 'queue', name }, { redrivePolicy }, presentOf(name) ?? {}),
  )
  return [...first, ...closing]
}

function subscriptionSteps(
  { topic, wanted }: { topic: string; wanted: SubscriptionState },
  present: FoundSubscription[],
  difference: Difference,
): Step[] {
  const own = present.find((other) => isSame(other, wanted))
  const { endpoint, name = null, settings = {} } = wanted
  const subject = { kind: 'subscription' as const, name: endpoint, topic, ...(own && { id: own.id }) }
  return difference(subject, own || name === null ? settings : { name, ...settings }, own?.settings)
}

/** Both kinds of mail may have the same address. The server shows passwords of endpoints as asterisks. */
function isSame(found: SubscriptionState, wanted: SubscriptionState): boolean {
  const [protocol, others] = [found.settings?.protocol, wanted.settings?.protocol]
  const hasSameKind = protocol === undefined || others === undefined || protocol === others
  if (!hasSameKind || (found.name ?? null) !== (wanted.name ?? null)) return false
  const isMasked = found.endpoint.includes('****@')
  return found.endpoint === (isMasked ? maskCredentials(wanted.endpoint) : wanted.endpoint)
}

type Subject = Pick<Step, 'kind' | 'name' | 'topic' | 'id'>

type Difference = (
  subject: Subject,
  wanted: Record<string, unknown>,
  present: Record<string, unknown> | undefined,
) => Step[]

/** Only settings that the file names are compared. */
function differenceOf(isStored: IsStored, ...[subject, wanted, present]: Parameters<Difference>): Step[] {
  if (!present) return [{ act: 'create', ...subject, settings: wanted }]
  const changed = Object.keys(wanted).filter(
    (name) => !INITIAL.includes(name) && !isStored(subject.kind, name, wanted[name], present),
  )
  if (changed.length === 0) return []
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(changed.map((name) => [name, Object.hasOwn(from, name) ? (from[name] ?? null) : null]))
  return [{ act: 'change', ...subject, settings: pick(wanted), before: pick(present) }]
}

/**
 * The steps that delete everything that the file does not name. Subscriptions come first and queues last, so that
 * nothing is deleted while something else still refers to it.
 */
function leftOver(wanted: State, found: Found): Step[] {
  const steps: Step[] = []
  for (const topic of found.topics) {
    const kept = wanted.topics.find(({ name }) => name === topic.name)
    if (!kept) steps.push({ act: 'delete', kind: 'topic', name: topic.name, settings: {} })
    const gone = kept
      ? topic.subscriptions.filter((one) => !kept.subscriptions.some((other) => isSame(one, other)))
      : []
    const remove = ({ endpoint, id }: FoundSubscription): Step => ({
      act: 'delete',
      kind: 'subscription',
      name: endpoint,
      topic: topic.name,
      id,
      settings: {},
    })
    steps.unshift(...gone.map(remove))
    const named = kept?.eventTypes?.map(({ name }) => name)
    const dropped = named ? (topic.eventTypes ?? []).filter(({ name }) => !named.includes(name)) : []
    for (const { name } of dropped)
      steps.unshift({ act: 'delete', kind: 'eventType', name, topic: topic.name, settings: {} })
  }
  const queues = found.queues.filter(({ name }) => !wanted.queues.some((other) => other.name === name))
  return [...steps, ...queues.map(({ name }): Step => ({ act: 'delete', kind: 'queue', name, settings: {} }))]
}

/** Steps that change a setting that cannot be changed. The command refuses them before it changes anything. */
export function impossible(steps: Step[]): string[] {
  return steps
    .filter(({ act }) => act === 'change')
    .flatMap(({ kind, name, settings }) =>
      FIXED.filter((member) => member in settings).map(
        (member) => `${member} of ${kind} ${name} cannot be changed`,
      ),
    )
}
