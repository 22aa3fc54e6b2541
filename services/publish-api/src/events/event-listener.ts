/**
 * One listener to live events. It knows which events the listener wants, how many a second at most, and its position in
 * the outcome log. Events that the listener does not get are counted. An event `gap` reports them, before the next
 * event or at the next second.
 */
import { randomUUID } from 'node:crypto'
import {
  type EndOfEvents,
  type EventType,
  type GapCause,
  LOGGED_EVENTS,
  UNLOGGED_EVENTS,
} from '@fantail/contracts/schemas/events/event-schemas'
import { type DeliveryEvent, formatPosition, type Interest, isWanted, type LogPosition } from '@fantail/store'
import { BoundedStream } from './bounded-stream.ts'
import {
  type EventFrame,
  endText,
  FIRST_TEXT,
  type Gap,
  gapText,
  HEARTBEAT_TEXT,
  type StreamState,
  stateText,
} from './event-text.ts'

export interface Wanted {
  types: readonly EventType[]
  topicArn: string | undefined
  subscriptionId: string | undefined
  statuses: readonly string[] | undefined
  max: number
  /** Set for keys that see only some names. */
  account: string | undefined
  prefixes: readonly string[]
  /** Whether the caller may see events of this topic. null: the topic is no longer known. */
  sees(topicArn: string | null): boolean
}

const WINDOW_MS = 1_000

interface EventListenerOptions extends Wanted {
  /** Epoch ms. */
  clock: () => number
  onGone: (listener: EventListener) => void
}

export class EventListener {
  readonly id = randomUUID()
  /** True when the listener has got all earlier events that it requested. */
  isFollowing = false
  /** The announcement after which other processes send it live events. */
  readonly interest: Interest
  /** The same for listeners that want and may see the same events. `sees` follows from these members. */
  readonly wish: string
  readonly #options: EventListenerOptions
  readonly #logged: Interest
  readonly #stream: BoundedStream
  readonly #gaps = new Map<GapCause, Gap>()
  #position: LogPosition | undefined
  #second = Number.NEGATIVE_INFINITY
  #sent = 0

  constructor(options: EventListenerOptions) {
    const { types, topicArn, subscriptionId, statuses, account, prefixes, max } = options
    const filter = { id: this.id, topicArn, subscriptionId, statuses, account, prefixes, max }
    this.#options = options
    this.wish = JSON.stringify([types, topicArn, subscriptionId, statuses, account, prefixes])
    this.interest = { ...filter, types: UNLOGGED_EVENTS.filter((type) => types.includes(type)) }
    this.#logged = { ...this.interest, types: types as Interest['types'] }
    this.#stream = new BoundedStream(() => options.onGone(this))
    this.#stream.push(FIRST_TEXT)
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable
  }

  get isClosed(): boolean {
    return this.#stream.isClosed
  }

  get stalledMs(): number {
    return this.#stream.stalledMs
  }

  /** Whether the listener wants ends of deliveries. */
  get wantsLogged(): boolean {
    return LOGGED_EVENTS.some((type) => this.#options.types.includes(type))
  }

  set position(position: LogPosition) {
    this.#position = position
  }

  wants(event: DeliveryEvent): boolean {
    return isWanted(this.#logged, event) && this.#options.sees(event.topicArn)
  }

  /** Whether the listener may get another event in this second. */
  get hasCapacity(): boolean {
    const now = performance.now()
    if (now - this.#second >= WINDOW_MS) {
      this.#second = now
      this.#sent = 0
    }
    return this.#sent < this.#options.max
  }

  /** Sends an event to the listener, or counts it as missed. */
  offer(frame: EventFrame): void {
    const { hasCapacity } = this
    const { position } = frame
    // A gap comes before the event, so it has the position before the event.
    if (hasCapacity) this.#showGaps()
    if (position) this.#position = position
    if (!hasCapacity) this.miss('rate', 1)
    else if (this.#gaps.size === 0 && this.#stream.push(frame.bytes)) this.#sent++
    else this.miss('lag', 1)
  }

  /** Counts events that the listener misses. null: their number is unknown. `from`: epoch ms since when. */
  miss(why: GapCause, dropped: number | null, from: number | null = this.#options.clock()): void {
    const to = this.#options.clock()
    const before = this.#gaps.get(why)
    const sum = before && (before.dropped === null || dropped === null ? null : before.dropped + dropped)
    this.#gaps.set(why, before ? { ...before, dropped: sum ?? null, to } : { dropped, from, to, why })
  }

  /** Resolves when the listener can take another event, or has left. */
  async whenReady(): Promise<void> {
    await this.#stream.whenRead()
    while (!this.isClosed && !this.hasCapacity) {
      const leftMs = Math.max(0, this.#second + WINDOW_MS - performance.now())
      await new Promise((resolve) => setTimeout(resolve, leftMs))
    }
  }

  /** Called each second. */
  tick(): void {
    if (this.hasCapacity) this.#showGaps()
  }

  /** Sends a line that says how current the stream is. A slow reader gets it later or not at all. */
  showState(state: StreamState): void {
    if (!this.#stream.isBlocked) this.#stream.push(stateText(state, this.#id()))
  }

  beat(): void {
    if (!this.#stream.isBlocked) this.#stream.push(HEARTBEAT_TEXT)
  }

  close(why: EndOfEvents): void {
    this.#showGaps()
    this.#stream.push(endText(why))
    this.#stream.close()
  }

  #showGaps(): void {
    for (const [why, gap] of this.#gaps) {
      if (!this.#stream.push(gapText(gap, this.#id()))) return
      this.#gaps.delete(why)
    }
  }

  #id(): string | undefined {
    return this.#position && formatPosition(this.#position)
  }
}
