/**
 * Brings a file into the form in which the server answers: ARNs instead of names, the numbers of presets, and defaults
 * of members that are left out. A file that was applied would otherwise differ from the server forever.
 */
import { type ArnDefaults, isObject, isProtocol, isQueueName, queueArn } from '@fantail/contracts'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import { parseDeliveryPolicy, readEndpoint } from '@fantail/policy'
import { CommandError } from '../../output/exit-codes.ts'
import { nameAt, type State, type SubscriptionState } from './state-file.ts'

type Settings = Record<string, unknown>

/**
 * Settings that the schema refuses stay as they are, because the server explains them best. Throws if the file names
 * something twice.
 */
export function storedForm(file: State, server: ArnDefaults): State {
  const { success, data } = StateFile.safeParse(file)
  const { queues, topics, version } = success ? (data as unknown as State) : file
  return {
    version,
    queues: named(queues, server),
    topics: named(topics, server).map((topic) => ({
      ...topic,
      subscriptions: topic.subscriptions.map((one) => storedSubscription(one, server)),
    })),
  }
}

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
  const { endpoint, settings = {} } = subscription
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
