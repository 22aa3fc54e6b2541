/**
 * Passes the events of a bundle to listeners that want the same ones. Each event is compared with their filter once. A
 * listener that has got its events of the second takes no more of the bundle, and is told at its end how many it
 * missed.
 */
import type { EventCount } from '@fantail/store'
import type { EventListener } from './event-listener.ts'
import type { EventFrame } from './event-text.ts'

export class GroupOffer {
  readonly #first: EventListener
  #open: EventListener[]
  /** Listeners that take no more, and how many events had been missed before. */
  readonly #full: { listener: EventListener; before: number }[]
  #missed = 0

  constructor(listeners: [EventListener, ...EventListener[]]) {
    const { open = [], full = [] } = Object.groupBy(listeners, ({ hasCapacity }) =>
      hasCapacity ? 'open' : 'full',
    )
    this.#first = listeners[0]
    this.#open = open
    this.#full = full.map((listener) => ({ listener, before: 0 }))
  }

  /** Whether none of the listeners takes another event now. */
  get isFull(): boolean {
    return this.#open.length === 0
  }

  /** Whether type and topic decide if the listeners want an event. */
  get isByTopic(): boolean {
    const { subscriptionId, statuses } = this.#first.interest
    return subscriptionId === undefined && statuses === undefined
  }

  wants(event: EventFrame['event']): boolean {
    return this.#first.wants(event)
  }

  /** Counts events that nobody takes. Only for a group that is full and chooses by topic. */
  miss({ type, topicArn, count }: EventCount): void {
    if (this.wants({ type, topicArn, at: 0 })) this.#missed += count
  }

  offer(frame: EventFrame): void {
    this.#missed++
    if (this.isFull) return
    this.#open = this.#open.filter((listener) => {
      listener.offer(frame)
      const { hasCapacity } = listener
      if (!hasCapacity) this.#full.push({ listener, before: this.#missed })
      return hasCapacity
    })
  }

  end(): void {
    for (const { listener, before } of this.#full)
      if (this.#missed > before) listener.miss('rate', this.#missed - before)
  }
}

/** The listeners by what they want. */
export function groupsOf(listeners: Iterable<EventListener>): [EventListener, ...EventListener[]][] {
  const groups = new Map<string, [EventListener, ...EventListener[]]>()
  for (const listener of listeners) {
    const group = groups.get(listener.wish)
    if (group) group.push(listener)
    else groups.set(listener.wish, [listener])
  }
  return [...groups.values()]
}
