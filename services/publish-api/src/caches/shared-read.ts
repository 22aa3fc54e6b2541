/**
 * A costly read that many callers share. It is made at most once in a period, and less often if it takes long. While
 * nobody asks, nothing is read.
 */

/** If a read took one ms, its result stays fresh for this many ms. */
const FRESH_TIMES = 20
/** Age of a shared read, if reading takes long. Past it: it is read again. */
const SHARED_AGE_MS_MAX = 15_000

interface Kept<T> {
  value: Promise<T>
  /** Monotonic ms; undefined while it is being read. */
  until: number | undefined
}

export class SharedRead<T> {
  readonly #read: () => Promise<T>
  readonly #freshMs: number
  #kept: Kept<T> | undefined

  /** The value is read again after `freshMs`. With 0 it is read each time. */
  constructor(read: () => Promise<T>, { freshMs }: { freshMs: number }) {
    this.#read = read
    this.#freshMs = freshMs
  }

  /** Callers at the same time share one read. A failed one is not kept. */
  get(): Promise<T> {
    const kept = this.#kept
    if (kept && (kept.until === undefined || performance.now() < kept.until)) return kept.value
    const began = performance.now()
    const next: Kept<T> = { value: this.#read(), until: undefined }
    next.value.then(
      () => {
        const tookMs = performance.now() - began
        next.until = performance.now() + this.#freshFor(tookMs)
      },
      () => {
        next.until = 0
      },
    )
    this.#kept = next
    return next.value
  }

  #freshFor(tookMs: number): number {
    if (this.#freshMs === 0) return 0
    return Math.max(this.#freshMs, Math.min(SHARED_AGE_MS_MAX, tookMs * FRESH_TIMES))
  }
}
