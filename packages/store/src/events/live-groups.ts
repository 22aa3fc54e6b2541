/** Listeners by what they want, and the events that they did not get. */
import type { Interest } from './live-interest.ts'
import type { DeliveryEvent } from './log-events.ts'

export const SECOND_MS = 1_000

/** A message from one process to an API process. */
export interface LiveNotice {
  /** `to`: ids of listeners. */
  events: { to: string[]; event: DeliveryEvent }[]
  /** Events that were left out, by listener. */
  dropped: Record<string, number>
}

/** Listeners that want the same events. They get the same ones, and each event is compared with their filter once. */
export interface Group {
  interest: Interest
  ids: string[]
  /** The time since which `sent` counts, monotonic ms. */
  since: number
  sent: number
  /** Events that were left out since the last message. */
  dropped: number
}

/** A group that was known before keeps its counts of the second. */
export function groupsOf(interests: Interest[], before: Map<string, Group> | undefined): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const interest of interests) {
    const { id, ...wish } = interest
    const key = JSON.stringify(wish)
    const group = groups.get(key)
    if (group) group.ids.push(id)
    else {
      const { since = 0, sent = 0 } = before?.get(key) ?? {}
      groups.set(key, { interest, ids: [id], since, sent, dropped: 0 })
    }
  }
  return groups
}

/** Adds what was left out to the next message. */
export function passOn(groups: ReadonlyMap<string, Group>, { dropped }: LiveNotice): void {
  for (const group of groups.values()) {
    if (group.dropped > 0) for (const id of group.ids) dropped[id] = (dropped[id] ?? 0) + group.dropped
    group.dropped = 0
  }
}

export const nothing = (): LiveNotice => ({ events: [], dropped: {} })

export function countDropped(counts: Record<string, number>, { events, dropped }: LiveNotice): void {
  for (const [id, count] of Object.entries(dropped)) counts[id] = (counts[id] ?? 0) + count
  for (const { to } of events) for (const id of to) counts[id] = (counts[id] ?? 0) + 1
}

/** Until when the group takes no event of any kind, if type and topic alone decide what it wants; else 0. */
export function fullUntil({ interest, sent, since }: Group): number {
  const isByTopic = interest.statuses === undefined && interest.subscriptionId === undefined
  return isByTopic && sent >= interest.max ? since + SECOND_MS : 0
}
