/**
 * Brings a file into the form in which the server answers: ARNs instead of names, the numbers of presets, and defaults
 * of members that are left out. A file that was applied would otherwise differ from the server forever.
 */
import type { Session } from '@fantail/client/api'
import { type ArnDefaults, isObject, isProtocol, isQueueName, parseArn, queueArn } from '@fantail/contracts'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import { parseDeliveryPolicy, readEndpoint } from '@fantail/policy'
import { nameAt, type State, type SubscriptionState } from './state-file.ts'

type Settings = Record<string, unknown>

/** Settings that the schema refuses stay as they are, because the server explains them best. */
export function storedForm(file: State, server: Session['server']): State {
  const { success, data } = StateFile.safeParse(file)
  const { queues, topics, version } = success ? (data as unknown as State) : file
  const named = <T extends { name: string; settings?: Settings }>(one: T) => ({
    ...one,
    name: parseArn(one.name) ? nameAt(server, one.name) : one.name,
    settings: storedSettings(one.settings ?? {}, server),
  })
  return {
    version,
    queues: queues.map(named),
    topics: topics.map((topic) => ({
      ...named(topic),
      subscriptions: topic.subscriptions.map((one) => storedSubscription(one, server)),
    })),
  }
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
