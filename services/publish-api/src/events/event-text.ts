/** Writes events in the format `text/event-stream`. */
import type { EndOfEvents, EventView, GapCause } from '@fantail/contracts/schemas/events/event-schemas'
import { redactEndpoint } from '@fantail/delivery'
import { type DeliveryEvent, formatPosition, type LogPosition } from '@fantail/store'
import type { z } from 'zod'
import { iso, isoOrNull } from '../http/record-views.ts'

type View = z.input<typeof EventView>

/** Milliseconds after which a client connects again. */
const RETRY_MS = 1_000

export const FIRST_TEXT = `retry: ${RETRY_MS}\n\n`
export const HEARTBEAT_TEXT = ': heartbeat\n\n'

export interface Gap {
  /** Number of missed events. null: unknown. */
  dropped: number | null
  /** The time since which events are missing, epoch ms. null: unknown. */
  from: number | null
  to: number
  why: GapCause
}

export interface StreamState {
  /** Whether ends of deliveries arrive at present. */
  live: boolean
  /** Milliseconds since the outcome log was last read to its end. */
  lagMs: number
  /** Whether the outcome log is kept. Without it there are no ends of deliveries. */
  ends: boolean
}

/** `id`: the position after the event. Absent: the event is not in the outcome log. */
function eventText(event: DeliveryEvent, id?: string): string {
  return frame(event.type, eventView(event), id)
}

export function gapText({ dropped, from, to, why }: Gap, id: string | undefined): string {
  return frame('gap', { dropped, from: isoOrNull(from), to: iso(to), why }, id)
}

export function stateText(state: StreamState, id: string | undefined): string {
  return frame('state', state, id)
}

export function endText(why: EndOfEvents): string {
  return frame('end', { why }, undefined)
}

/** JSON has no line breaks, so the data is one line. */
function frame(name: string, data: object, id: string | undefined): string {
  const line = id === undefined ? '' : `id: ${id}\n`
  return `${line}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

function eventView({ at, endpoint, nextAttemptAt, decision, ...event }: DeliveryEvent): View {
  return {
    ...event,
    at: iso(at),
    ...(endpoint !== undefined && { endpoint: endpoint === null ? null : redactEndpoint(endpoint) }),
    ...(decision !== undefined && { decision }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: isoOrNull(nextAttemptAt) }),
  }
}

const ENCODER = new TextEncoder()

/** An event in the form in which listeners get it. It is written once, for the first listener that takes it. */
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
