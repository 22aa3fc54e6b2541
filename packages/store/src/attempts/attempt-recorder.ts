/**
 * Gathers attempts in a worker and writes them to Redis, at most one script a second. Nothing is packed before that,
 * and nothing is sent if nothing was gathered. If there are too many attempts, a worker keeps the newest failures and
 * the first successes of each subscription, and counts the others. A clean stop writes the rest. A crash, or a write
 * that fails, loses the gathered attempts.
 *
 * nothing ─add→ waiting (RECORDS_EVERY_MS) ─timer→ writing ─written, or lost→ nothing, or waiting
 */
import { type AttemptRecord, packAttempt } from './attempt-record.ts'
import { ATTEMPTS_KEPT_MAX, type AttemptShare, type AttemptStore } from './attempt-store.ts'

const RECORDS_EVERY_MS = 1_000
/** The pause before the first write, so that attempts that end at about the same time are written together. */
const FIRST_RECORDS_MS = 100
/**
 * Redis takes some 3 µs for a record, so other commands wait about a millisecond.
 * @limit Attempts that a worker records in a second. Past it: the older ones of each subscription are left out.
 */
const RECORDED_PER_WRITE_MAX = 300
/**
 * @limit memory (worker) Attempts that wait in a worker to be recorded. Past it: attempts of further subscriptions are
 * left out.
 */
const RECORDS_WAITING_MAX = 2_000

/**
 * There are many successes. Only the first ones of each second are recorded, and the others cost almost nothing.
 * @limit Successful attempts of a subscription that a worker records in a second. Past it: they are left out.
 */
const SUCCESSES_PER_WRITE_MAX = 20
/**
 * Subscriptions whose left-out attempts a worker counts. Past it: attempts of other subscriptions are left out and not
 * counted.
 */
const LEFT_OUT_COUNTED_MAX = 20_000

/** Makes the record of an attempt. It is called only if the record is written. */
type MakeRecord = () => AttemptRecord

interface AttemptRecorderOptions {
  store: Pick<AttemptStore, 'add'>
  /** Bytes that all records together may take. 0: no attempt is recorded. */
  bytesMax: number
  /** Epoch ms. */
  now: () => number
  /** Called after each write. `error`: why it failed. */
  onWrite: (state: 'up' | 'down', error?: unknown) => void
  everyMs?: number
}

/** The newest attempts of one subscription, as a ring. */
interface Gathered {
  makers: MakeRecord[]
  /** The place of the oldest one, if the ring is full. */
  oldest: number
  /** How many attempts were left out before the oldest gathered one. */
  leftOut: number
}

export class AttemptRecorder {
  readonly #options: AttemptRecorderOptions
  /** By subscription. The subscription that has waited for the longest time comes first. */
  readonly #gathered = new Map<string, Gathered>()
  /** How many attempts were left out since the last gathered one, by subscription. */
  readonly #leftOut = new Map<string, number>()
  #waiting = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  /** When the last write began, by performance.now(). */
  #wroteAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(options: AttemptRecorderOptions) {
    this.#options = options
  }

  get isOn(): boolean {
    return this.#options.bytesMax > 0
  }

  /** Whether a successful attempt is recorded now. If not, the caller calls `leaveOut`. */
  takesSuccess(subscriptionId: string): boolean {
    if (this.#waiting >= RECORDED_PER_WRITE_MAX) return false
    const gathered = this.#gathered.get(subscriptionId)
    return gathered === undefined || gathered.makers.length < SUCCESSES_PER_WRITE_MAX
  }

  leaveOut(subscriptionId: string): void {
    const known = this.#leftOut.get(subscriptionId)
    if (known === undefined && this.#leftOut.size >= LEFT_OUT_COUNTED_MAX) return
    this.#leftOut.set(subscriptionId, (known ?? 0) + 1)
  }

  add(subscriptionId: string, make: MakeRecord): void {
    const known = this.#gathered.get(subscriptionId)
    const isFull = this.#waiting >= RECORDS_WAITING_MAX
    if (isFull && !known) {
      this.leaveOut(subscriptionId)
      return
    }
    const gathered = known ?? this.#begin(subscriptionId)
    if (isFull || gathered.makers.length === ATTEMPTS_KEPT_MAX) replaceOldest(gathered, make)
    else {
      gathered.makers.push(make)
      this.#waiting++
    }
    this.#schedule()
  }

  #begin(subscriptionId: string): Gathered {
    const gathered = { makers: [], oldest: 0, leftOut: this.#leftOut.get(subscriptionId) ?? 0 }
    this.#leftOut.delete(subscriptionId)
    this.#gathered.set(subscriptionId, gathered)
    return gathered
  }

  /** Writes the gathered attempts. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#writing
    while (this.#gathered.size > 0) await this.#write()
  }

  #schedule(): void {
    if (this.#timer || this.#writing || this.#isStopped) return
    const { everyMs = RECORDS_EVERY_MS } = this.#options
    const delayMs = Math.max(Math.min(FIRST_RECORDS_MS, everyMs), this.#wroteAt + everyMs - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
        if (this.#gathered.size > 0) this.#schedule()
      })
    }, delayMs)
  }

  async #write(): Promise<void> {
    const { store, bytesMax, now, onWrite } = this.#options
    this.#wroteAt = performance.now()
    try {
      await store.add({ now: Math.round(now()), bytesMax, shares: this.#take() })
      onWrite('up')
    } catch (error) {
      onWrite('down', error)
    }
  }

  /**
   * Each subscription gets the same number of places. Subscriptions for which no place is left wait for the next write.
   */
  #take(): AttemptShare[] {
    const batch = [...this.#gathered].slice(0, RECORDED_PER_WRITE_MAX)
    const places = Math.floor(RECORDED_PER_WRITE_MAX / Math.max(1, batch.length))
    return batch.map(([subscription, gathered]) => {
      this.#gathered.delete(subscription)
      this.#waiting -= gathered.makers.length
      return { subscription, records: packNewest(gathered, places) }
    })
  }
}

function replaceOldest(gathered: Gathered, make: MakeRecord): void {
  const { makers, oldest } = gathered
  makers[oldest] = make
  gathered.oldest = (oldest + 1) % makers.length
  gathered.leftOut++
}

/** The newest ones, oldest first. The first of them says how many were left out before it. */
function packNewest({ makers, oldest, leftOut }: Gathered, places: number): string[] {
  const inOrder = [...makers.slice(oldest), ...makers.slice(0, oldest)]
  const newest = inOrder.slice(-places)
  const missing = leftOut + inOrder.length - newest.length
  return newest.map((make, i) =>
    packAttempt(i === 0 && missing > 0 ? { ...make(), leftOut: missing } : make()),
  )
}
