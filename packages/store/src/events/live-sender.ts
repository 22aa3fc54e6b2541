/**
 * Sends live events to the API processes whose listeners want them. A listener gets at most as many events a second as
 * it requested. Further events are left out and counted. The events of 50 ms are sent in one message. Without listeners
 * no events are sent.
 */
import type { Redis } from 'ioredis'
import { liveChannel } from '../keys.ts'
import { type EventFacts, INTEREST_MS, type Interest, isWanted, parseInterest } from './live-interest.ts'
import type { DeliveryEvent } from './log-events.ts'

/** A message from one process to an API process. */
export interface LiveNotice {
  /** `to`: ids of listeners. */
  events: { to: string[]; event: DeliveryEvent }[]
  /** Events that were left out, by listener. */
  dropped: Record<string, number>
}

const LIVE_GATHER_MS = 50
/** @limit Events of one message to an API process with listeners. Past it: the message is sent at once. */
const LIVE_EVENTS_PER_NOTICE_MAX = 200
/** @limit Messages to an API process with listeners that are under way. Past it: events are left out and counted. */
const LIVE_NOTICES_MAX = 4
/** @limit API processes with listeners to which a process sends. Past it: further ones get no events. */
const LISTENING_PROCESSES_MAX = 100
const SECOND_MS = 1_000

/** Listeners that want the same events. They get the same ones, and each event is compared with their filter once. */
interface Group {
  interest: Interest
  ids: string[]
  /** The time since which `sent` counts, monotonic ms. */
  since: number
  sent: number
  /** Events that were left out since the last message. */
  dropped: number
}

interface Process {
  id: string
  /** The number of its latest announcement. */
  turn: number
  until: number
  /** By what they want. */
  groups: Map<string, Group>
  waiting: LiveNotice
  underWay: number
  timer: NodeJS.Timeout | undefined
}

export class LiveSender {
  readonly #redis: Pick<Redis, 'publish'>
  readonly #processes = new Map<string, Process>()
  #ends: NodeJS.Timeout | undefined
  #isOn = false

  constructor(redis: Pick<Redis, 'publish'>) {
    this.#redis = redis
  }

  /** Whether there are listeners. Without listeners, callers do not build events. */
  get on(): boolean {
    return this.#isOn
  }

  /** Called with each message of the channel WAKE_LISTENERS. */
  heard(text: string): void {
    const notice = parseInterest(text)
    if (!notice) return
    const { process: id, turn, interests } = notice
    const known = this.#processes.get(id)
    if (known && turn < known.turn) return
    if (!known && this.#processes.size >= LISTENING_PROCESSES_MAX) return
    if (known) passOn(known)
    const groups = groupsOf(interests, known?.groups)
    const until = performance.now() + INTEREST_MS
    // A process without listeners stays until then, so that an earlier announcement that comes late has no effect.
    if (known) Object.assign(known, { groups, until, turn })
    else {
      const idle = { waiting: nothing(), underWay: 0, timer: undefined }
      this.#processes.set(id, { id, turn, until, groups, ...idle })
    }
    this.#look()
    this.#ends ??= setInterval(() => this.#end(), SECOND_MS).unref()
  }

  /** `make` is called only if a listener gets the event. */
  send(facts: EventFacts, make: () => DeliveryEvent): void {
    let event: DeliveryEvent | undefined
    for (const process of this.#processes.values()) {
      const to = this.#admitted(process, facts)
      if (to.length === 0) continue
      event ??= make()
      process.waiting.events.push({ to, event })
      if (process.waiting.events.length >= LIVE_EVENTS_PER_NOTICE_MAX) this.#flush(process)
    }
  }

  /** Sends the events that wait. */
  stop(): void {
    for (const process of this.#processes.values()) this.#flush(process)
    for (const id of [...this.#processes.keys()]) this.#forget(id)
  }

  /** The listeners that get the event now. For the others it is counted as left out. */
  #admitted(process: Process, facts: EventFacts): string[] {
    const now = performance.now()
    const to: string[] = []
    for (const group of process.groups.values()) {
      if (!isWanted(group.interest, facts)) continue
      if (now - group.since >= SECOND_MS) Object.assign(group, { since: now, sent: 0 })
      process.timer ??= setTimeout(() => this.#flush(process), LIVE_GATHER_MS)
      if (group.sent >= group.interest.max || process.underWay >= LIVE_NOTICES_MAX) group.dropped++
      else {
        group.sent++
        to.push(...group.ids)
      }
    }
    return to
  }

  #flush(process: Process): void {
    clearTimeout(process.timer)
    process.timer = undefined
    passOn(process)
    const { waiting } = process
    if (waiting.events.length === 0 && Object.keys(waiting.dropped).length === 0) return
    process.waiting = nothing()
    process.underWay++
    this.#redis
      .publish(liveChannel(process.id), JSON.stringify(waiting))
      // The listeners learn how many they missed.
      .catch(() => countDropped(process.waiting.dropped, waiting))
      .finally(() => process.underWay--)
  }

  #end(): void {
    const now = performance.now()
    for (const { id, until } of [...this.#processes.values()]) if (until < now) this.#forget(id)
  }

  #look(): void {
    this.#isOn = [...this.#processes.values()].some(({ groups }) => groups.size > 0)
  }

  #forget(id: string): void {
    clearTimeout(this.#processes.get(id)?.timer)
    this.#processes.delete(id)
    this.#look()
    if (this.#processes.size > 0) return
    clearInterval(this.#ends)
    this.#ends = undefined
  }
}

/** A group that was known before keeps its counts of the second. */
function groupsOf(interests: Interest[], before: Map<string, Group> | undefined): Map<string, Group> {
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
function passOn({ groups, waiting: { dropped } }: Process): void {
  for (const group of groups.values()) {
    if (group.dropped > 0) for (const id of group.ids) dropped[id] = (dropped[id] ?? 0) + group.dropped
    group.dropped = 0
  }
}

const nothing = (): LiveNotice => ({ events: [], dropped: {} })

function countDropped(counts: Record<string, number>, { events, dropped }: LiveNotice): void {
  for (const [id, count] of Object.entries(dropped)) counts[id] = (counts[id] ?? 0) + count
  for (const { to } of events) for (const id of to) counts[id] = (counts[id] ?? 0) + 1
}
