/** An event in the form in which listeners get it. It is written once, for the first listener that takes it. */
import { type DeliveryEvent, formatPosition, type LogPosition } from '@fantail/store'
import { eventText } from './event-text.ts'

const ENCODER = new TextEncoder()

export class EventFrame {
  readonly event: DeliveryEvent
  /** The position after the event, if the outcome log has the event. */
  readonly position: LogPosition | undefined
  #bytes: Uint8Array | undefined

  constructor(event: DeliveryEvent, position?: LogPosition) {
    this.event = event
    this.position = position
  }

  /** Must not be changed, because all listeners share them. */
  get bytes(): Uint8Array {
    this.#bytes ??= ENCODER.encode(eventText(this.event, this.position && formatPosition(this.position)))
    return this.#bytes
  }
}
