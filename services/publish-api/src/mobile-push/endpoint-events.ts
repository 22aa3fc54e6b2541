/** Publishes the events of platform endpoints that requests cause. */
import {
  type EndpointEvent,
  endpointEventText,
  eventTopicOf,
  type PlatformApplicationRecord,
} from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { admit } from '../messages/admit.ts'
import { makeMessages } from '../messages/make-messages.ts'
import { MessageStore, type PublishTools } from '../messages/message-store.ts'

type EventTools = PublishTools & Pick<ApiDeps, 'log'>

interface Announced extends EndpointEvent {
  application: PlatformApplicationRecord
  /** Base of the links in envelopes. */
  publicUrl: string
  requestId: string
}

export class EndpointEvents {
  readonly #deps: EventTools
  readonly #store: MessageStore

  constructor(deps: EventTools) {
    this.#deps = deps
    this.#store = new MessageStore(deps)
  }

  /** The change is made by then, so an event that cannot be published is logged and changes nothing. */
  async announce(event: Announced): Promise<void> {
    const topic = eventTopicOf(event.application, event.type)
    if (topic === undefined) return
    try {
      await this.#publish(topic, event)
    } catch (error) {
      const { requestId, endpointArn, type } = event
      this.#deps.log.warn({ requestId, endpointArn, type, topicArn: topic, err: error }, 'push.event_lost')
    }
  }

  async #publish(arn: string, { application, publicUrl, ...event }: Announced): Promise<void> {
    const topic = await admit(this.#deps, arn)
    const text = endpointEventText(application, event, this.#deps.clock())
    const messages = makeMessages(this.#deps, [{ ...text, attributes: {} }], { topic, publicUrl })
    const events = messages.map((message) => ({ ...message, isEvent: true as const }))
    await this.#store.store(topic, events, Buffer.byteLength(text.message))
  }
}
