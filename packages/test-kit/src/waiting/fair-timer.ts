/**
 * Measures a duration without the time in which the measured processes were ready but the machine ran others. A test
 * can then bound Fantail's own speed, whatever else the machine does.
 */
import { readFileSync } from 'node:fs'

const SAMPLE_MS = 10

/**
 * Starts now. The returned function returns the ms since then, and must be called once, at the end. Time in which this
 * process or one of `pids` waited for a processor is subtracted. If several waited at the same time, it is subtracted
 * once. Only Linux counts these waits; elsewhere nothing is subtracted.
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

/** Reads the counters once for all timers of the same processes. */
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

  /** A new wait counts as if it had just ended, because the kernel only counts the total duration. */
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

/** Time in which at least one process waited. Waits at the same time count once. */
export class Waits {
  /** Spans that do not overlap, the earliest first. */
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
 * Starts now. Each call of the returned function returns how long the process's main thread has run since then. This is
 * the longest time that other work waited for this thread. Infinity if the kernel does not count it.
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
 * How long the main thread of a process has waited for a processor since it began. 0 if there is no such process, or if
 * the kernel does not count it.
 */
export function waitedMs(process: number | string): number {
  return schedulingMs(process)[1] ?? 0
}

/** Two figures of the main thread: how long it ran, and how long it waited. */
function schedulingMs(process: number | string): number[] {
  try {
    const numbers = readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')
    return numbers.slice(0, 2).map((nanoseconds) => Number(nanoseconds) / 1_000_000)
  } catch {
    return []
  }
}

/**
 * Epoch ms with fractions, like the `at` of received requests. A change of the machine's time does not change it.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now()
}
