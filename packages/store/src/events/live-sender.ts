/**
 * Sends live events to the API processes whose listeners want them. A listener gets at most as many events a second as
 * it requested. Further events are left out and counted. The events of 50 ms are sent in one message. Without listeners
 * no events are sent.
 */
import type { Redis } from 'ioredis'
import { liveChannel, WAKE_LISTENERS } from '../keys/keys.ts'
import {
  countDropped,
  fullUntil,
  type Group,
  groupsOf,
  type LiveNotice,
  nothing,
  passOn,
  SECOND_MS,
} from './live-groups.ts'
import { type EventFacts, INTEREST_MS, isWanted, parseInterest } from './live-interest.ts'
import type { DeliveryEvent } from './log-events.ts'

const LIVE_GATHER_MS = 50
/** Events of one message to an API process with listeners. Past it: the message is sent at once. */
const LIVE_EVENTS_PER_NOTICE_MAX = 200
/** Messages to an API process with listeners that are under way. Past it: events are left out and counted. */
const LIVE_NOTICES_MAX = 4
/** API processes with listeners to which a process sends. Past it: further ones get no events. */
const LISTENING_PROCESSES_MAX = 100

interface Process {
  id: string
  /** The number of its latest announcement. */
  sequence: number
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
  /** Until then no listener takes an event, and type and topic alone decide which ones it misses. Monotonic ms. */
  #fullUntil = 0
  #full: { type: EventFacts['type']; topicArn: string; groups: Group[] } | undefined
  #fullTimer: NodeJS.Timeout | undefined

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
    const { process: id, sequence, interests } = notice
    const known = this.#processes.get(id)
    if (known && sequence < known.sequence) return
    if (!known && this.#processes.size >= LISTENING_PROCESSES_MAX) return
    if (known) passOn(known.groups, known.waiting)
    const groups = groupsOf(interests, known?.groups)
    const until = performance.now() + INTEREST_MS
    // A process without listeners stays until then, so that an earlier announcement that comes late has no effect.
    if (known) Object.assign(known, { groups, until, sequence })
    else {
      const idle = { waiting: nothing(), underWay: 0, timer: undefined }
      this.#processes.set(id, { id, sequence, until, groups, ...idle })
    }
    this.#open()
    this.#look()
    this.#lookFull(performance.now())
    this.#ends ??= setInterval(() => this.#end(), SECOND_MS).unref()
  }

  /**
   * Whether every listener has got its events of this second. Events of this type and topic are then counted as left
   * out, and the caller need not describe them: under full load these are most.
   */
  leavesOut(type: EventFacts['type'], topicArn: string, count = 1): boolean {
    if (performance.now() >= this.#fullUntil) return false
    if (this.#full?.type !== type || this.#full.topicArn !== topicArn)
      this.#full = { type, topicArn, groups: this.#wanting({ type, topicArn }) }
    for (const group of this.#full.groups) group.dropped += count
    return true
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
    this.#open()
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
        if (group.sent === group.interest.max) this.#lookFull(now)
      }
    }
    return to
  }

  get #groups(): Group[] {
    return [...this.#processes.values()].flatMap(({ groups }) => [...groups.values()])
  }

  #wanting(facts: EventFacts): Group[] {
    return this.#groups.filter(({ interest }) => isWanted(interest, facts))
  }

  /** A message at the end of that time says how many events were left out. */
  #lookFull(now: number): void {
    const until = Math.min(...this.#groups.map(fullUntil))
    // Without listeners it is infinite.
    if (until <= now || until === Number.POSITIVE_INFINITY) return
    this.#fullUntil = until
    this.#full = undefined
    clearTimeout(this.#fullTimer)
    this.#fullTimer = setTimeout(() => this.#flushAll(), until - now)
  }

  #flushAll(): void {
    this.#open()
    for (const process of this.#processes.values()) this.#flush(process)
  }

  #open(): void {
    clearTimeout(this.#fullTimer)
    this.#fullUntil = 0
    this.#full = undefined
  }

  #flush(process: Process): void {
    clearTimeout(process.timer)
    process.timer = undefined
    const { groups, waiting } = process
    passOn(groups, waiting)
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
    this.#open()
    clearTimeout(this.#processes.get(id)?.timer)
    this.#processes.delete(id)
    this.#look()
    if (this.#processes.size > 0) return
    clearInterval(this.#ends)
    this.#ends = undefined
  }
}

/** Subscribes to the announcements of processes with listeners. Returns a function that ends this. */
export function hearListeners(
  subscriber: Pick<Redis, 'on' | 'off' | 'status' | 'subscribe'>,
  live: Pick<LiveSender, 'heard'>,
): () => void {
  const hear = (channel: string, text: string) => {
    if (channel === WAKE_LISTENERS) live.heard(text)
  }
  const subscribe = () => {
    // This fails only if the connection breaks. The next 'ready' then starts it again.
    subscriber.subscribe(WAKE_LISTENERS).catch(() => undefined)
  }
  subscriber.on('message', hear)
  subscriber.on('ready', subscribe)
  if (subscriber.status === 'ready') subscribe()
  return () => {
    subscriber.off('message', hear)
    subscriber.off('ready', subscribe)
  }
}
