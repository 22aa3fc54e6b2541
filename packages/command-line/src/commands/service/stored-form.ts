/**
 * Brings a file into the form in which the server answers: ARNs instead of names, the numbers of presets, defaults of
 * members that are left out, and queues that subscriptions make. A file that was applied would otherwise differ from
 * the server forever.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type ArnDefaults,
  isObject,
  isProtocol,
  isQueueName,
  queueArn,
  RECORDING_DEFAULT,
} from '@fantail/contracts'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import { actionOnGone, parseDeliveryPolicy, readEndpoint } from '@fantail/policy'
import { QUEUE, SUBSCRIPTION, TOPIC } from '@fantail/store'
import { CommandError } from '../../output/exit-codes.ts'
import { nameAt, type State, type SubscriptionState } from './state-file.ts'
import type { Kind } from './state-plan.ts'

type Settings = Record<string, unknown>

/** Called with a file whose settings are right (state-settings.ts). Throws if the file names something twice. */
export function storedForm(file: State, server: ArnDefaults): State {
  const { queues: listed, topics, version } = StateFile.parse(file) as unknown as State
  const queues = named(listed, server)
  const made = topics.flatMap(({ subscriptions }) => subscriptions.flatMap((one) => madeQueue(one, server)))
  const others = [...new Set(made)].filter((name) => !queues.some((queue) => queue.name === name))
  return {
    version,
    queues: [...queues, ...others.map((name) => ({ name, settings: {} }))],
    topics: named(topics, server).map((topic) => ({
      ...topic,
      subscriptions: topic.subscriptions.map((one) => storedSubscription(one, server)),
    })),
  }
}

/** The dead-letter queue that a subscription asks for. It counts as one of the file, so `--prune` keeps it. */
function madeQueue({ settings }: SubscriptionState, server: ArnDefaults): string[] {
  const policy = settings?.redrivePolicy
  if (!isMaking(policy) || policy.createQueue === false) return []
  const { deadLetterTargetArn: queue } = policy
  return [isQueueName(queue) ? queue : nameAt(server, queue)]
}

interface Making extends Settings {
  deadLetterTargetArn: string
  createQueue: boolean
}

function isMaking(policy: unknown): policy is Making {
  return (
    isObject(policy) &&
    typeof policy.deadLetterTargetArn === 'string' &&
    typeof policy.createQueue === 'boolean'
  )
}

/** The values of reset settings, as the server shows them. It shows others as null, or not at all. */
const RESETS: Record<Kind, Settings> = {
  queue: QUEUE.settingDefaults,
  topic: { ...TOPIC.settingDefaults, recordAttempts: RECORDING_DEFAULT },
  eventType: { deprecated: false, examples: [] },
  subscription: SUBSCRIPTION.settingDefaults,
}

/** Whether the server has a setting of the file. `null` stands for the default, and the server shows the default. */
export function isStored(kind: Kind, member: string, wanted: unknown, present: Settings): boolean {
  const shown = present[member] ?? null
  if (wanted !== null) return isDeepStrictEqual(wanted, shown)
  // The name alone decides whether a queue or topic is FIFO.
  if (shown === null || member === 'fifo') return true
  if (member === 'onGone') return shown === actionOnGone({ ...(present as GoneRule), onGone: undefined })
  return isDeepStrictEqual(shown, RESETS[kind][member])
}

type GoneRule = Parameters<typeof actionOnGone>[0]

function named<T extends { name: string; settings?: Settings }>(items: readonly T[], server: ArnDefaults) {
  const names = new Set<string>()
  return items.map((item) => {
    const name = nameAt(server, item.name)
    if (names.has(name))
      throw new CommandError('usage', `the file names ${item.name} twice`, 'Nothing was changed.')
    names.add(name)
    return { ...item, name, settings: storedSettings(item.settings ?? {}, server) }
  })
}

function storedSubscription(subscription: SubscriptionState, server: ArnDefaults): SubscriptionState {
  const { endpoint, settings: given = {} } = subscription
  const { redrivePolicy } = given
  const settings = isMaking(redrivePolicy)
    ? { ...given, redrivePolicy: { deadLetterTargetArn: redrivePolicy.deadLetterTargetArn } }
    : given
  const protocol = isProtocol(settings.protocol) ? settings.protocol : undefined
  const read = readEndpoint(endpoint, protocol, server)
  return {
    ...subscription,
    endpoint: 'endpoint' in read ? read.endpoint : endpoint,
    settings: storedSettings(settings, server),
  }
}

function storedSettings(settings: Settings, server: ArnDefaults): Settings {
  const { redrivePolicy, redriveAllowPolicy, deliveryPolicy } = settings
  const arnOf = (queue: unknown) =>
    typeof queue === 'string' && isQueueName(queue) ? queueArn(queue, server) : queue
  return {
    ...settings,
    ...(isObject(redrivePolicy) &&
      'deadLetterTargetArn' in redrivePolicy && {
        redrivePolicy: { ...redrivePolicy, deadLetterTargetArn: arnOf(redrivePolicy.deadLetterTargetArn) },
      }),
    ...(isObject(redriveAllowPolicy) &&
      Array.isArray(redriveAllowPolicy.sourceQueueArns) && {
        redriveAllowPolicy: {
          ...redriveAllowPolicy,
          sourceQueueArns: redriveAllowPolicy.sourceQueueArns.map(arnOf),
        },
      }),
    ...(isObject(deliveryPolicy) && { deliveryPolicy: parseDeliveryPolicy(deliveryPolicy) }),
  }
}
