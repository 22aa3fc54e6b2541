/**
 * Publishes events about platform endpoints that deliveries have caused. A delivery leaves its lane only after its
 * event was published. So if a worker dies, the next one publishes the event, perhaps a second time.
 */
import {
  createMessageId,
  type EndpointEvent,
  type EndpointFailureType,
  endpointEventText,
  endpointOf,
  eventTopicOf,
  isSealing,
  type Message,
  type PlatformApplicationRecord,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import type { Publisher } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import { type BodySeals, type DeadState, type StorageGuard, sealMessage } from '@fantail/store'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import type { DeadDelivery } from './letter-appends.ts'

/** Bytes of a message in a job in addition to its text. */
const EVENT_OVERHEAD_BYTES = 512

interface MobilePushEventsOptions {
  application(arn: string): Promise<PlatformApplicationRecord | null>
  snapshots: Pick<SnapshotCache, 'topic'>
  storageGuard: Pick<StorageGuard, 'admit'>
  /** Called before the first event, because most workers never have one. */
  openPublisher(): Pick<Publisher, 'publish' | 'close'>
  publicUrl: string | undefined
  seals: BodySeals
  log: Pick<Logger, 'warn'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class MobilePushEvents {
  readonly #options: MobilePushEventsOptions
  #publisher: Pick<Publisher, 'publish' | 'close'> | undefined

  constructor(options: MobilePushEventsOptions) {
    this.#options = options
  }

  /** Publishes the event. Also resolves if no topic can get it. Rejects if it must be tried again. */
  async publish(application: PlatformApplicationRecord, event: EndpointEvent): Promise<void> {
    const topicArn = eventTopicOf(application, event.type)
    if (topicArn === undefined) return
    const { snapshots, storageGuard, publicUrl, seals, log, now } = this.#options
    const snapshot = await snapshots.topic(topicArn)
    if (!snapshot || snapshot.topic.fifo) {
      const { endpointArn, type } = event
      log.warn({ endpointArn, type, topicArn }, 'push.event_lost')
      return
    }
    const { uid: topicUid } = snapshot.topic
    await storageGuard.admit(topicUid)
    const publishedAt = now()
    const message: Message = {
      messageId: createMessageId(publishedAt),
      topicArn,
      topicUid,
      publishedAt,
      ...endpointEventText(application, event, publishedAt),
      isEvent: true,
      ...(publicUrl !== undefined && { publicUrl }),
    }
    const bytes = Buffer.byteLength(message.message) + EVENT_OVERHEAD_BYTES
    this.#publisher ??= this.#options.openPublisher()
    const stored = seals.all || isSealing(snapshot.topic) ? sealMessage(seals, message) : message
    await this.#publisher.publish([stored], { bytes, fanOut: snapshot.subscriptions })
  }

  /** Publishes the event of a delivery that has failed permanently. Returns false if this must be tried again. */
  async failed({ subscription, context, state }: DeadDelivery): Promise<boolean> {
    const { messageId, isEvent } = context.message
    if (isEvent) return true
    const endpointArn = endpointOf(subscription.record, context.message)
    try {
      const application = await this.#options.application(
        parsePlatformEndpointArn(endpointArn)?.application ?? '',
      )
      if (!application) return true
      const failure = { type: failureTypeOf(state), message: failureMessage(state), messageId }
      await this.publish(application, { type: 'DeliveryFailure', endpointArn, failure })
      return true
    } catch (error) {
      this.#options.log.warn({ endpointArn, messageId, err: error }, 'push.event_postponed')
      return false
    }
  }

  async close(): Promise<void> {
    await this.#publisher?.close()
  }
}

const TYPES = new Map(
  Object.entries<EndpointFailureType>({
    token_refused: 'InvalidPlatformToken',
    endpoint_disabled: 'EndpointDisabled',
    notification_expired: 'NotificationTTLExpired',
  }),
)

const MESSAGES: Record<EndpointFailureType, string> = {
  InvalidPlatformToken: 'Platform token associated with the endpoint is not valid.',
  EndpointDisabled: 'Endpoint is disabled',
  NotificationTTLExpired: 'The time to live of the notification is over.',
  DeliveryFailedPerm: 'The notification cannot be delivered.',
}

function failureTypeOf({ error }: DeadState): EndpointFailureType {
  return TYPES.get(error ?? '') ?? 'DeliveryFailedPerm'
}

/** A failure that has no type of its own is named by its cause and the last answer or error. */
function failureMessage(state: DeadState): string {
  const type = failureTypeOf(state)
  if (type !== 'DeliveryFailedPerm') return MESSAGES[type]
  const last = state.error ?? state.statusCode
  return `${MESSAGES[type]} ${state.cause}${last === null ? '' : `, ${last}`}`
}
