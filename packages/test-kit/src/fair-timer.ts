/**
 * How long something took, less the time in which the processes that did it were ready to run and the machine ran
 * others.
 * A bound then holds Fantail to its promise, beside whatever else the machine does.
 */
import { readFileSync } from 'node:fs'

const SAMPLE_MS = 10

/**
 * Starts now; the result returns ms since then, and is to be called once at the end. Time in which this process or one
 * of those named waited for a processor is taken off: once, where several waited together. Linux counts these waits;
 * elsewhere nothing is taken off.
 */
export function startFairTimer(...pids: number[]): () => number {
  const timer = new FairTimer(['self', ...pids])
  running.add(timer)
  sampler ??= setInterval(lookAtAll, SAMPLE_MS).unref()
  return () => {
    running.delete(timer)
    return timer.tookMs()
  }
}

const running = new Set<FairTimer>()
let sampler: NodeJS.Timeout | undefined

function lookAtAll(): void {
  const now = performance.now()
  const read = readOnce()
  for (const timer of running) timer.look(now, read)
  if (running.size > 0) return
  clearInterval(sampler)
  sampler = undefined
}

/** Many timers may watch the same processes. */
function readOnce(): typeof waitedMs {
  const known = new Map<number | string, number>()
  return (process) => {
    const ms = known.get(process) ?? waitedMs(process)
    known.set(process, ms)
    return ms
  }
}

class FairTimer {
  readonly #startedAt = performance.now()
  readonly #waited: Map<number | string, number>
  readonly #waits = new Waits()

  constructor(processes: (number | string)[]) {
    this.#waited = new Map(processes.map((process) => [process, waitedMs(process)]))
  }

  /** A new wait is taken to have ended just now: the kernel only counts how long all of them were. */
  look(now: number, read = waitedMs): void {
    for (const [process, before] of this.#waited) {
      const waited = read(process)
      if (waited <= before) continue
      this.#waited.set(process, waited)
      this.#waits.add(Math.max(this.#startedAt, now - (waited - before)), now)
    }
  }

  tookMs(): number {
    const now = performance.now()
    this.look(now)
    return Math.max(0, now - this.#startedAt - this.#waits.ms())
  }
}

/** Time in which somebody waited: where several waited together it counts once. */
export class Waits {
  /** Apart from each other, the earliest first. */
  readonly #spans: { from: number; to: number }[] = []

  /** None so far may end later. */
  add(from: number, to: number): void {
    let first = from
    for (let last = this.#spans.at(-1); last && last.to >= first; last = this.#spans.at(-1)) {
      first = Math.min(first, last.from)
      this.#spans.pop()
    }
    this.#spans.push({ from: first, to })
  }

  ms(): number {
    return this.#spans.reduce((sum, { from, to }) => sum + to - from, 0)
  }
}

/**
 * Starts now; each call of the result returns how long the main thread of the process has run since then. What waits
 * for that thread waits no longer than this, but for what others do. Infinity if the kernel does not count it.
 */
export function startCpuTimer(process: number): () => number {
  const before = ranMs(process)
  return () => {
    const ran = ranMs(process)
    return ran >= before && ran > 0 ? ran - before : Number.POSITIVE_INFINITY
  }
}

function ranMs(process: number): number {
  return schedulingMs(process)[0] ?? 0
}

/**
 * What the main thread of a process has waited for a processor since it began. 0 if there is no such process, or if the
 * kernel does not count it.
 */
export function waitedMs(process: number | string): number {
  return schedulingMs(process)[1] ?? 0
}

/** Of the main thread: ran, waited. */
function schedulingMs(process: number | string): number[] {
  try {
    const numbers = readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')
    return numbers.slice(0, 2).map((nanoseconds) => Number(nanoseconds) / 1_000_000)
  } catch {
    return []
  }
}
