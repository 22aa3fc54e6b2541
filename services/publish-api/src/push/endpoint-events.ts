/** Events of platform endpoints, published to the topics that their application names. */
import type { PlatformApplicationRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import { admit } from '../messages/admit.ts'
import { makeMessages } from '../messages/make-messages.ts'
import { MessageStore } from '../messages/message-store.ts'
import { EVENT_ATTRIBUTES } from './application-settings.ts'

interface EndpointEvent {
  type: keyof typeof EVENT_ATTRIBUTES
  application: PlatformApplicationRecord
  endpointArn: string
  /** Base of the links in envelopes. */
  publicUrl: string
  requestId: string
}

const SUBJECTS = {
  EndpointCreated: 'Platform endpoint created',
  EndpointUpdated: 'Platform endpoint updated',
  EndpointDeleted: 'Platform endpoint deleted',
  DeliveryFailure: 'Delivery to a platform endpoint failed',
} as const

export class EndpointEvents {
  readonly #deps: ApiDeps
  readonly #store: MessageStore

  constructor(deps: ApiDeps) {
    this.#deps = deps
    this.#store = new MessageStore(deps)
  }

  /** The change is made by then, so an event that cannot be published is logged and changes nothing. */
  async announce(event: EndpointEvent): Promise<void> {
    const topic = event.application.attributes[EVENT_ATTRIBUTES[event.type]]
    if (topic === undefined) return
    try {
      await this.#publish(topic, event)
    } catch (error) {
      const { requestId, endpointArn, type } = event
      this.#deps.log.warn({ requestId, endpointArn, type, topicArn: topic, err: error }, 'push.eventLost')
    }
  }

  async #publish(arn: string, { type, application, endpointArn, publicUrl }: EndpointEvent): Promise<void> {
    const topic = await admit(this.#deps, arn)
    const message = JSON.stringify({
      Resource: application.arn,
      Service: 'SNS',
      EventType: type,
      EndpointArn: endpointArn,
      Time: new Date(this.#deps.clock()).toISOString(),
    })
    const given = { message, subject: SUBJECTS[type], attributes: {} }
    const messages = makeMessages(this.#deps, [given], { topic, publicUrl })
    await this.#store.store(topic, messages, Buffer.byteLength(message))
  }
}
