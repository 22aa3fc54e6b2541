/**
 * Follows the outcome log once for all listeners of this process. Without listeners it reads nothing. If a listener
 * connects again, it first reads separately from its old position. When it has caught up, it joins the others.
 */
import type { ReportState } from '@fantail/runtime'
import {
  compareBundles,
  countEvents,
  type EventCount,
  eventsOf,
  type LogBundle,
  type LoggedEvent,
  type LogPosition,
  type OutcomeReader,
  type PlaceInBundle,
  type SliceFinder,
  wasSeen,
} from '@fantail/store'
import type { EventListener } from './event-listener.ts'
import { EventFrame, type StreamState } from './event-text.ts'
import { GroupOffer, groupsOf } from './group-offer.ts'

/** Time between two reads of the log while there are listeners. */
const FOLLOW_EVERY_MS = 250
/**
 * @limit Time in which a listener that connects again may catch up. Past it: the rest is left out, and `gap` reports
 * it.
 */
const CATCH_UP_MS_MAX = 30_000
/** If the log was read to its end within this time, the stream counts as live. */
const LIVE_WITHIN_MS = 2_500

interface LogFollowerOptions {
  reader: OutcomeReader
  finder: SliceFinder
  /** Whether the outcome log is kept. */
  isKept: boolean
  report: ReportState
  /** Called if a bundle of the log cannot be read. */
  onUnreadable: (error: Error) => void
}

export class LogFollower {
  readonly #options: LogFollowerOptions
  readonly #joined = new Set<EventListener>()
  #joining = 0
  #position: LogPosition | undefined
  /** When the log was last read to its end, monotonic ms. */
  #readAt = Number.NEGATIVE_INFINITY
  #following: Promise<void> | undefined
  #wake: (() => void) | undefined
  #isStopped = false

  constructor(options: LogFollowerOptions) {
    this.#options = options
  }

  get state(): StreamState {
    const lagMs = Math.round(performance.now() - this.#readAt)
    const ends = this.#options.isKept
    // The log was never read yet. JSON has no Infinity, so the lag is shown as 0.
    if (!Number.isFinite(lagMs)) return { live: false, lagMs: 0, ends }
    return { live: lagMs < LIVE_WITHIN_MS, lagMs, ends }
  }

  /**
   * Sends ends of deliveries to the listener, from the position on, or from now on. Resolves when the listener has
   * caught up or left.
   */
  async join(listener: EventListener, from?: LogPosition): Promise<void> {
    this.#joining++
    try {
      const start = await this.#start(listener)
      if (start && from) await this.#catchUp(listener, from)
      if (!this.#isStopped && !listener.isClosed) this.#add(listener)
    } finally {
      this.#joining--
    }
  }

  leave(listener: EventListener): void {
    this.#joined.delete(listener)
    if (!this.#isNeeded) this.#wake?.()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake?.()
    await this.#following
  }

  get #isNeeded(): boolean {
    return !this.#isStopped && this.#joined.size + this.#joining > 0
  }

  #add(listener: EventListener): void {
    if (this.#position) listener.position = this.#position
    this.#joined.add(listener)
  }

  /** Resolves with the position of the other listeners. Undefined: the listener has left before. */
  async #start(listener: EventListener): Promise<LogPosition | undefined> {
    this.#following ??= this.#follow()
    while (!this.#position && !listener.isClosed && !this.#isStopped) await pause(FOLLOW_EVERY_MS / 10)
    return this.#position
  }

  async #catchUp(listener: EventListener, from: LogPosition): Promise<void> {
    const until = performance.now() + CATCH_UP_MS_MAX
    let at = this.#options.reader.fit(from)
    listener.position = at
    while (!listener.isClosed && !this.#isStopped && this.#position && !hasReached(at, this.#position)) {
      if (performance.now() > until) {
        listener.miss('lag', null, Math.min(...at.streams.map(({ ms }) => ms)))
        return
      }
      const next = await this.#readOn(listener, at, until)
      // The other listeners are at the same position, or Redis does not answer.
      if (next === at) await pause(FOLLOW_EVERY_MS / 10)
      at = next
    }
  }

  /** Reads on, at most to the position of the others. Returns the position that it has reached. */
  async #readOn(listener: EventListener, from: LogPosition, until: number): Promise<LogPosition> {
    let at = from
    try {
      const others = this.#position
      const { bundles } = await this.#options.reader.read(from)
      for (const bundle of begunFirst(bundles, from)) {
        const limit = others?.streams[bundle.stream]
        if (!limit || compareBundles(bundle.place, limit) > 0) {
          // A position can be inside of one bundle only, so a bundle that was begun must be ended before another one.
          if (at.within) return at
          continue
        }
        noteMissing(listener, bundle, at)
        for (const event of await this.#eventsIn(bundle)) {
          if (wasSeen(at, placeOf(bundle, event)) || !listener.wants(event.event)) continue
          await listener.whenReady()
          if (listener.isClosed || performance.now() > until) return at
          at = { streams: at.streams, within: placeOf(bundle, event) }
          listener.offer(new EventFrame(event.event, at))
        }
        at = behind(at, bundle)
        listener.position = at
      }
    } catch (error) {
      this.#options.report('down', error)
    }
    return at
  }

  async #follow(): Promise<void> {
    while (this.#isNeeded) {
      const isFull = await this.#followOnce()
      if (!isFull && this.#isNeeded) await this.#pause()
    }
    this.#position = undefined
    this.#following = undefined
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  async #followOnce(): Promise<boolean> {
    try {
      const began = performance.now()
      if (!this.#position) {
        this.#position = await this.#options.reader.newest()
        this.#readAt = began
      }
      const { bundles, isFull } = await this.#options.reader.read(this.#position)
      for (const bundle of bundles) await this.#pass(bundle)
      if (!isFull) this.#readAt = began
      this.#options.report('up')
      return isFull
    } catch (error) {
      this.#options.report('down', error)
      return false
    }
  }

  /**
   * Between sending the events and setting the new position, nothing is awaited. So a listener that joins misses
   * nothing.
   */
  async #pass(bundle: LogBundle): Promise<void> {
    const before = this.#position
    if (!before || this.#passCounted(bundle, before)) return
    const events = await this.#eventsIn(bundle)
    const offers = this.#offers()
    for (const listener of this.#joined) noteMissing(listener, bundle, before)
    for (const event of events) {
      let frame: EventFrame | undefined
      for (const offer of offers) {
        if (!offer.wants(event.event)) continue
        frame ??= new EventFrame(event.event, { streams: before.streams, within: placeOf(bundle, event) })
        offer.offer(frame)
      }
    }
    this.#passed(bundle, before, offers)
  }

  /** Under full load most events come while no listener takes any. They are then only counted. */
  #passCounted(bundle: LogBundle, before: LogPosition): boolean {
    const offers = this.#offers()
    if (!offers.every(({ isFull, isByTopic }) => isFull && isByTopic)) return false
    const counts = offers.length === 0 ? [] : countsIn(bundle)
    if (!counts) return false
    for (const listener of this.#joined) noteMissing(listener, bundle, before)
    for (const count of counts) for (const offer of offers) offer.miss(count)
    this.#passed(bundle, before, offers)
    return true
  }

  #offers(): GroupOffer[] {
    return groupsOf(this.#joined).map((listeners) => new GroupOffer(listeners))
  }

  #passed(bundle: LogBundle, before: LogPosition, offers: GroupOffer[]): void {
    for (const offer of offers) offer.end()
    this.#position = behind(before, bundle)
    for (const listener of this.#joined) listener.position = this.#position
  }

  /** The events of a bundle. If the bundle cannot be read, it has none, so that later bundles are still read. */
  async #eventsIn(bundle: LogBundle): Promise<LoggedEvent[]> {
    try {
      return await eventsOf(bundle, this.#options.finder)
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
      this.#options.onUnreadable(error)
      return []
    }
  }

  async #pause(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      timer = setTimeout(resolve, FOLLOW_EVERY_MS)
    })
    clearTimeout(timer)
    this.#wake = undefined
  }
}

/** Undefined: the events must be read one by one. That also reports a bundle that cannot be read. */
function countsIn(bundle: LogBundle): EventCount[] | undefined {
  try {
    return countEvents(bundle)
  } catch {
    return undefined
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function noteMissing(listener: EventListener, { missing, stream }: LogBundle, before: LogPosition): void {
  if (missing !== null && missing > 0) listener.miss('trimmed', missing, before.streams[stream]?.ms ?? null)
}

/** Bundles of the stream whose bundle the listener has begun come first. */
function begunFirst(bundles: LogBundle[], { within }: LogPosition): LogBundle[] {
  const others = bundles.filter(({ stream }) => stream !== within?.stream)
  return [...bundles.filter(({ stream }) => stream === within?.stream), ...others]
}

/** The position after the bundle. A place within another bundle stays. */
function behind({ streams, within }: LogPosition, { stream, place }: LogBundle): LogPosition {
  return { streams: streams.with(stream, place), ...(within?.stream !== stream && { within }) }
}

function placeOf({ stream, place: { ms, seq } }: LogBundle, { entry, rank }: LoggedEvent): PlaceInBundle {
  return { stream, ms, seq, entry, rank }
}

function hasReached({ streams, within }: LogPosition, others: LogPosition): boolean {
  const inBundle = within && others.streams[within.stream]
  if (within && inBundle && compareBundles(inBundle, within) < 0) return false
  return others.streams.every((place, n) => compareBundles(streams[n] ?? place, place) >= 0)
}
