/**
 * Manages the listeners of this process. It limits their number, tells them how up to date their streams are, and ends
 * the streams of listeners that must leave.
 */
import { FantailError } from '@fantail/contracts'
import type { EndOfEvents } from '@fantail/contracts/schemas/events/event-schemas'
import { createStateLog, type Logger } from '@fantail/runtime'
import {
  hearListeners,
  LiveSender,
  type LogPosition,
  OutcomeReader,
  type Redis,
  SliceFinder,
  type Snapshots,
} from '@fantail/store'
import { EventListener, type Wanted } from './event-listener.ts'
import { LiveChannel } from './live-channel.ts'
import { LogFollower } from './log-follower.ts'

/** @limit Listeners to live events of one API process. Past it: `rate_limited`. */
const LISTENERS_MAX = 20
/** @limit Listeners to live events of one key in an API process. Past it: `rate_limited`. */
const LISTENERS_PER_KEY_MAX = 5
/** @limit Time for which a listener may read none of the events that wait for it. Past it: its stream ends. */
const STALLED_MS_MAX = 60_000
const TICK_MS = 1_000
/** Seconds between two lines with the state of the stream. */
const STATE_EVERY = 5
const HEARTBEAT_EVERY = 15

/** The position at which a listener begins. */
export interface Since {
  position: LogPosition
  /** True if the outcome log still has all entries since this position. */
  isComplete: boolean
  /** The listener was connected before. So it has missed events that no log has. */
  isReconnect: boolean
  /** The time since which the listener has missed such events, epoch ms. null: it is unknown, or none were missed. */
  missedFrom: number | null
}

interface Joining {
  wanted: Wanted
  /** null: keys are not required. */
  keyId: string | null
  since: Since | undefined
  /** Rejects if the caller is no longer allowed to listen. */
  check: () => Promise<void>
}

interface Present extends Pick<Joining, 'keyId' | 'check'> {
  seconds: number
}

interface EventListenersOptions {
  follower: LogFollower
  channel: LiveChannel
  /** Epoch ms. */
  clock: () => number
}

export class EventListeners {
  readonly #options: EventListenersOptions
  readonly #present = new Map<EventListener, Present>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: EventListenersOptions) {
    this.#options = options
  }

  /** Throws `rate_limited` if there are too many listeners. */
  open({ wanted, keyId, since, check }: Joining): ReadableStream<Uint8Array> {
    this.#admit(keyId)
    const { clock } = this.#options
    const listener = new EventListener({ ...wanted, clock, onGone: (gone) => this.#leave(gone) })
    this.#present.set(listener, { keyId, check, seconds: 0 })
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
    void this.#join(listener, since)
    return listener.readable
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const listener of [...this.#present.keys()]) this.#close(listener, 'stopping')
    await this.#options.follower.stop()
  }

  #admit(keyId: string | null): void {
    const ofKey = [...this.#present.values()].filter((present) => present.keyId === keyId).length
    const isFull = this.#isStopped || this.#present.size >= LISTENERS_MAX
    if (!isFull && (keyId === null || ofKey < LISTENERS_PER_KEY_MAX)) return
    const who = isFull ? `this server has ${LISTENERS_MAX}` : `this key has ${LISTENERS_PER_KEY_MAX}`
    throw new FantailError('rate_limited', `${who} listeners to events, and takes no more`, {
      retryAfterSeconds: 10,
    })
  }

  async #join(listener: EventListener, since: Since | undefined): Promise<void> {
    const { follower, channel } = this.#options
    if (since?.isComplete === false) listener.miss('trimmed', null, null)
    await channel.join(listener)
    if (since?.isReconnect && listener.interest.types.length > 0) {
      listener.miss('reconnect', null, since.missedFrom)
    }
    listener.tick()
    if (listener.wantsLogged) await follower.join(listener, since?.position)
    listener.isFollowing = true
    if (listener.isClosed) this.#leave(listener)
    else this.#showState(listener)
  }

  #leave(listener: EventListener): void {
    const { follower, channel } = this.#options
    this.#present.delete(listener)
    follower.leave(listener)
    channel.leave(listener)
    if (this.#present.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #close(listener: EventListener, why: EndOfEvents): void {
    listener.close(why)
    this.#leave(listener)
  }

  #tick(): void {
    for (const [listener, present] of [...this.#present]) {
      present.seconds++
      if (listener.stalledMs > STALLED_MS_MAX) {
        this.#close(listener, 'slow')
        continue
      }
      listener.tick()
      if (present.seconds % STATE_EVERY === 0) this.#showState(listener)
      if (present.seconds % HEARTBEAT_EVERY === 0) listener.beat()
      void this.#check(listener, present)
    }
  }

  /**
   * Ends the stream of a listener that may no longer listen, because its key or session has ended, or its rights have
   * changed. Other errors do not show that.
   */
  async #check(listener: EventListener, { check }: Present): Promise<void> {
    try {
      await check()
    } catch (error) {
      if (error instanceof FantailError && ENDS.has(error.code)) this.#close(listener, 'revoked')
    }
  }

  #showState(listener: EventListener): void {
    const { follower, channel } = this.#options
    const log = follower.state
    const isOpen = listener.interest.types.length === 0 || channel.isOpen
    const follows = listener.wantsLogged
    listener.showState({ ...log, live: isOpen && (!follows || log.live), lagMs: follows ? log.lagMs : 0 })
  }
}

const ENDS = new Set(['unauthorized', 'forbidden', 'not_found'])

interface EventsOptions {
  redis: Redis
  subscriber: Redis
  snapshots: Pick<Snapshots, 'slice' | 'former'>
  /** Number of dispatch queues. The outcome log has a stream for each. */
  queues: number
  /** Number of entries that the outcome log keeps. 0: it is not kept. */
  logMessages: number
  /** Epoch ms. */
  clock: () => number
  log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface Events {
  events: EventListeners
  outcomeReader: OutcomeReader
  live: LiveSender
  /** Finds the subscriptions of events. It must forget subscriptions that have changed. */
  finder: SliceFinder
}

/** Creates and connects the objects for live events. */
export function createEvents(options: EventsOptions): Events {
  const { redis, subscriber, snapshots, queues, logMessages, clock, log } = options
  const outcomeReader = new OutcomeReader(redis, { queues })
  const finder = new SliceFinder(snapshots)
  const follower = new LogFollower({
    reader: outcomeReader,
    finder,
    isKept: logMessages > 0,
    report: createStateLog({ log, what: 'event_log', initial: 'up' }),
    onUnreadable: (error) => log.error({ err: error }, 'event_log.unreadable'),
  })
  const channel = new LiveChannel({ redis, subscriber, clock })
  const live = new LiveSender(redis)
  hearListeners(subscriber, live)
  return { events: new EventListeners({ follower, channel, clock }), outcomeReader, live, finder }
}
