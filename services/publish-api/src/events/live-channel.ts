/**
 * Receives live events that no log has: attempts and published messages. While listeners of this process want such
 * events, the process announces this every few seconds, and receives the events on its own pub/sub channel. Without
 * such listeners it sends nothing to Redis.
 */
import { randomUUID } from 'node:crypto'
import { parseArn } from '@fantail/contracts'
import {
  INTEREST_MS,
  type InterestNotice,
  type LiveNotice,
  liveChannel,
  type Redis,
  WAKE_CHANGES,
  WAKE_LISTENERS,
} from '@fantail/store'
import type { EventListener } from './event-listener.ts'
import { EventFrame } from './event-text.ts'

/** The announcement is repeated well before it expires. */
const ANNOUNCE_EVERY_MS = INTEREST_MS / 3

interface LiveChannelOptions {
  redis: Pick<Redis, 'publish'>
  subscriber: Pick<Redis, 'on' | 'status' | 'subscribe' | 'unsubscribe'>
  /** Epoch ms. */
  clock: () => number
}

export class LiveChannel {
  readonly #options: LiveChannelOptions
  readonly #process = randomUUID()
  readonly #channel = liveChannel(this.#process)
  readonly #listeners = new Map<string, EventListener>()
  #timer: NodeJS.Timeout | undefined
  #isOpen = false
  #sequence = 0

  constructor(options: LiveChannelOptions) {
    const { subscriber } = options
    this.#options = options
    subscriber.on('message', (channel: string, text: string) => {
      if (this.#listeners.size === 0) return
      if (channel === this.#channel) this.#pass(JSON.parse(text) as LiveNotice)
      else if (channel === WAKE_CHANGES) this.#changed(text)
    })
    subscriber.on('ready', () => void this.#open())
    subscriber.on('close', () => {
      this.#isOpen = false
    })
  }

  /** Whether the channel is subscribed, so that events can arrive. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  async join(listener: EventListener): Promise<void> {
    if (listener.interest.types.length === 0) return
    this.#listeners.set(listener.id, listener)
    this.#timer ??= setInterval(() => void this.#announce(), ANNOUNCE_EVERY_MS)
    if (this.#isOpen) await this.#announce()
    else await this.#open()
  }

  leave(listener: EventListener): void {
    if (!this.#listeners.delete(listener.id)) return
    void this.#announce()
    if (this.#listeners.size === 0) this.#close()
  }

  /** Subscribes, also on a new connection. Earlier events are lost, and their number is unknown. */
  async #open(): Promise<void> {
    const { subscriber, clock } = this.#options
    if (this.#listeners.size === 0 || subscriber.status !== 'ready') return
    const known = [...this.#listeners.values()]
    try {
      await subscriber.subscribe(this.#channel)
    } catch {
      // The connection has broken. Its next 'ready' subscribes again.
      return
    }
    this.#isOpen = true
    for (const listener of known) if (listener.isFollowing) listener.miss('lag', null, clock())
    await this.#announce()
  }

  #close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#isOpen = false
    // If the connection breaks, its subscriptions are gone anyway.
    this.#options.subscriber.unsubscribe(this.#channel).catch(() => undefined)
  }

  async #announce(): Promise<void> {
    const interests = [...this.#listeners.values()].map(({ interest }) => interest)
    const notice: InterestNotice = { process: this.#process, sequence: ++this.#sequence, interests }
    // If this announcement is lost, the next one replaces it.
    await this.#options.redis.publish(WAKE_LISTENERS, JSON.stringify(notice)).catch(() => undefined)
  }

  #pass({ events, dropped }: LiveNotice): void {
    for (const { to, event } of events) {
      const frame = new EventFrame(event)
      for (const id of to) {
        const listener = this.#listeners.get(id)
        if (listener?.wants(event)) listener.offer(frame)
      }
    }
    for (const [id, count] of Object.entries(dropped)) this.#listeners.get(id)?.miss('rate', count)
  }

  /** Called when a topic or its subscriptions have changed. */
  #changed(text: string): void {
    const arn = parseArn(text)
    if (arn?.service !== 'sns' || arn.subscriptionId !== undefined) return
    const frame = new EventFrame({ type: 'changed', at: this.#options.clock(), topicArn: text })
    for (const listener of this.#listeners.values()) if (listener.wants(frame.event)) listener.offer(frame)
  }
}
