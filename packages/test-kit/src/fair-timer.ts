/**
 * How long something took, less the time in which the processes that did it were ready to run and the machine ran
 * others.
 * A bound then holds Fantail to its promise, beside whatever else the machine does.
 */
import { readFileSync } from 'node:fs'

/**
 * Starts now; each call of the result returns ms since then. What this process and those named waited for a processor
 * is taken off. Linux counts that; elsewhere nothing is taken off.
 */
export function startFairTimer(...pids: number[]): () => number {
  const processes = ['self', ...pids]
  const startedAt = performance.now()
  const before = processes.map(waitedMs)
  return () => {
    const waits = processes.map((process, i) => Math.max(0, waitedMs(process) - (before[i] ?? 0)))
    return Math.max(0, performance.now() - startedAt - waits.reduce((sum, ms) => sum + ms, 0))
  }
}

/**
 * What the main thread of a process has waited for a processor since it began. 0 if there is no such process, or if the
 * kernel does not count it.
 */
export function waitedMs(process: number | string): number {
  try {
    const [, nanoseconds = 0] = readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1_000_000
  } catch {
    return 0
  }
}
