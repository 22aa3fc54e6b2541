/**
 * Counts what a process publishes and delivers, and adds it to the statistics in Redis every few seconds. Counting
 * itself asks Redis nothing, and nothing is sent if nothing was counted. A clean stop writes the rest. A crash loses
 * the counts that were not written yet. For accounts this is at most one interval. A process with more than 200 busy
 * topics and subscriptions writes these in turns. Figures of weeks are written once a minute.
 *
 * nothing ─count→ waiting (FLUSH_MS) ─timer→ flushing ─written→ nothing;  flushing ─refused, silent→ waiting
 */
import { randomUUID } from 'node:crypto'
import { directOwnerOf } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { type Counted, type SeriesKind, type StatsStore, seriesKey } from './stats-store.ts'
import { addCounts, type PackedCounts, Tally, type TallyKind } from './tally.ts'
import { weekCounts } from './week-figures.ts'

const FLUSH_MS = 5_000
/** Topics and subscriptions whose tallies a process caches. Past it: the least recently used go. */
const TALLIES_MAX = 20_000
/**
 * Statistics that one script adds. Past it: a further script follows. Adding one takes Redis some 20 µs, so other
 * commands wait about a millisecond.
 */
const COUNTED_PER_WRITE_MAX = 50
/** Scripts of one flush. Past it: the rest waits for the next flush, and counting continues meanwhile. */
const WRITES_PER_FLUSH_MAX = 4
/** Statistics that a process keeps while they cannot be written. Past it: the oldest are dropped. */
const COUNTED_WAITING_MAX = 20_000
const WEEKS_EVERY_MS = 60_000
/** Pause before further topics or subscriptions are tried, after one had found no free seat. */
const SEATS_TAKEN_MS = 600_000
const MINUTE_MS = 60_000

interface StatsCounterOptions {
  store: Pick<StatsStore, 'add'>
  /** Epoch ms. */
  now: () => number
  /** Called after each flush. `error`: why it failed. */
  onFlush: (state: 'up' | 'down', error?: unknown) => void
  flushMs?: number
  weeksMs?: number
}

export class StatsCounter {
  readonly #options: StatsCounterOptions
  readonly #writer = randomUUID()
  readonly #tallies = new LRUCache<string, Tally>({ maxSize: TALLIES_MAX, sizeCalculation: () => 1 })
  readonly #touch = (tally: Tally, at: number) => this.#touched(tally, at)
  readonly #seatless = new Tally('subscription', '', () => false)
  #dirty: Tally[] = []
  /** The minute to which all unwritten counts belong, since 1970. */
  #minute = 0
  /** Counts of accounts, by minute and series. There are few of them, and they are written first. */
  readonly #totals = new Map<string, Counted>()
  /** All others, oldest first. */
  readonly #waiting = new Map<string, Counted>()
  /** Counts of weeks, by hour and series. */
  readonly #weeks = new Map<string, Counted>()
  #weekTimer: NodeJS.Timeout | undefined
  #areWeeksDue = false
  /** The counts that are being written. They stay until Redis has certainly stored them. */
  #batch: Counted[] = []
  #flushes = 0
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #isStopped = false
  /** Epoch ms until which only series with a seat are sent. */
  readonly #takenUntil = new Map<SeriesKind, number>()
  readonly #seated = new LRUCache<string, true>({ maxSize: TALLIES_MAX, sizeCalculation: () => 1 })

  constructor(options: StatsCounterOptions) {
    this.#options = options
  }

  /** Number of statistics that were dropped because Redis was unreachable for too long. */
  get dropped(): number {
    return this.#dropped
  }

  /** Counts the messages and deliveries of a topic, for itself and its account. */
  topic(arn: string): Tally {
    return this.#tallies.get(arn) ?? this.#made(directOwnerOf(arn) === undefined ? 'topic' : 'direct', arn)
  }

  /**
   * All subscriptions without a seat share a tally that never counts. So callers must ask again at least every few
   * minutes.
   */
  subscription(id: string): Tally {
    if (!this.#maySendSubscription(id)) return this.#seatless
    return this.#tallies.get(id) ?? this.#made('subscription', id)
  }

  /** Writes everything that was counted. It tries once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearTimeout(this.#weekTimer)
    await this.#flushing
    await this.#flush()
  }

  #made(kind: TallyKind, name: string): Tally {
    const tally = new Tally(kind, name, this.#touch)
    this.#tallies.set(name, tally)
    return tally
  }

  /** Returns whether the tally counts. */
  #touched(tally: Tally, at: number): boolean {
    const minute = Math.floor(at / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#takeAll()
      this.#minute = minute
    }
    if (tally.isDirty) return true
    if (tally.kind === 'subscription' && !this.#maySendSubscription(tally.name)) return false
    tally.isDirty = true
    this.#dirty.push(tally)
    this.#flushLater()
    return true
  }

  #flushLater(): void {
    if (this.#isStopped || this.#flushing) return
    const { flushMs = FLUSH_MS } = this.#options
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined
        if (this.#hasMore()) this.#flushLater()
      })
    }, flushMs)
  }

  #hasMore(): boolean {
    const weeks = this.#areWeeksDue ? this.#weeks.size : 0
    return this.#dirty.length + this.#totals.size + this.#waiting.size + weeks + this.#batch.length > 0
  }

  #takeAll(): void {
    const tallies = this.#dirty
    this.#dirty = []
    for (const { kind, name, counts } of tallies.map(taken)) {
      if (kind === 'subscription') {
        this.#wait('s', name, counts)
        this.#wait('w', name, weekCounts(counts))
      }
      if (kind === 'topic') this.#wait('t', name, counts)
      if (kind !== 'subscription') this.#wait('a', accountOf(name), counts)
    }
    this.#dropOldest(this.#totals)
    this.#dropOldest(this.#waiting)
    this.#dropOldest(this.#weeks)
  }

  #wait(kind: SeriesKind, name: string, counts: PackedCounts): void {
    if (!this.#maySend(kind, name)) return
    const minute = kind === 'w' ? this.#minute - (this.#minute % 60) : this.#minute
    const key = `${minute} ${seriesKey(kind, name)}`
    const list = kind === 'a' ? this.#totals : kind === 'w' ? this.#weeks : this.#waiting
    if (kind === 'w') this.#writeWeeksLater()
    const waiting = list.get(key)
    if (waiting) {
      addCounts(waiting.counts, counts)
      return
    }
    list.set(key, { kind, name, minute, counts: [...counts] })
  }

  #writeWeeksLater(): void {
    if (this.#isStopped || this.#areWeeksDue) return
    this.#weekTimer ??= setTimeout(() => {
      this.#weekTimer = undefined
      this.#areWeeksDue = true
      this.#flushLater()
    }, this.#options.weeksMs ?? WEEKS_EVERY_MS)
  }

  /** In one pass, because a Map looks at all entries that were deleted before it finds its first one. */
  #dropOldest(list: Map<string, Counted>): void {
    for (const oldest of list.keys()) {
      if (list.size <= COUNTED_WAITING_MAX) return
      list.delete(oldest)
      this.#dropped++
    }
  }

  #maySend(kind: SeriesKind, name: string): boolean {
    const until = this.#takenUntil.get(kind) ?? 0
    return this.#options.now() >= until || this.#seated.has(seriesKey(kind, name))
  }

  #maySendSubscription(id: string): boolean {
    return this.#maySend('s', id) || this.#maySend('w', id)
  }

  async #flush(): Promise<void> {
    const { onFlush } = this.#options
    this.#takeAll()
    try {
      await this.#write([this.#totals, this.#waiting])
      if (this.#areWeeksDue || this.#isStopped) await this.#write([this.#weeks])
      if (this.#weeks.size === 0) this.#areWeeksDue = false
      onFlush('up')
    } catch (error) {
      onFlush('down', error)
    }
  }

  async #write(lists: Map<string, Counted>[]): Promise<void> {
    for (let n = 0; (n < WRITES_PER_FLUSH_MAX || this.#isStopped) && this.#fillBatch(lists); n++)
      await this.#writeBatch()
  }

  /** A batch that may have been written keeps its number, and nothing more is added to it. */
  #fillBatch(lists: Map<string, Counted>[]): boolean {
    if (this.#batch.length > 0) return true
    for (const list of lists) this.#moveToBatch(list)
    if (this.#batch.length === 0) return false
    this.#flushes++
    return true
  }

  #moveToBatch(list: Map<string, Counted>): void {
    for (const [key, counted] of list) {
      if (this.#batch.length === COUNTED_PER_WRITE_MAX) break
      list.delete(key)
      if (this.#maySend(counted.kind, counted.name)) this.#batch.push(counted)
    }
  }

  async #writeBatch(): Promise<void> {
    const { store, now } = this.#options
    const refused = await store.add({
      writer: this.#writer,
      flush: this.#flushes,
      now: now(),
      counted: this.#batch,
    })
    for (const counted of this.#batch) {
      if (!refused.includes(counted)) this.#seated.set(seriesKey(counted.kind, counted.name), true)
    }
    for (const { kind, name } of refused) {
      this.#takenUntil.set(kind, now() + SEATS_TAKEN_MS)
      this.#seated.delete(seriesKey(kind, name))
    }
    this.#batch = []
  }
}

function taken(tally: Tally) {
  return { kind: tally.kind, name: tally.name, counts: tally.take() }
}

/** A topic for direct messages has no ARN that could be parsed. */
function accountOf(topicArn: string): string {
  return topicArn.split(':', 5)[4] ?? ''
}
