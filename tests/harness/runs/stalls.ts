/** When processes were ready to run and the machine ran others for long: time in which no pace can be kept. */
import { waitedMs } from '@fantail/test-kit'
import { onTestFinished } from 'vitest'

const SAMPLE_MS = 10
/** Shorter ones make nothing late: a throttled request may be sent later by more. */
const STALL_MS = 50

export interface Stalls {
  /** Of the time between two of `performance.timeOrigin + performance.now()`, in ms: no more than that time. */
  between(from: number, to: number): number
  /** The same of all waits, short ones too, of all processes together. */
  waited(from: number, to: number): number
}

/** Watches this process and those named until the test ends. */
export function watchStalls(pids: number[]): Stalls {
  const waits: { since: number; at: number; ms: number }[] = []
  const last = new Map(['self', ...pids].map((process) => [process, waitedMs(process)]))
  let since = performance.timeOrigin + performance.now()
  const look = () => {
    const at = performance.timeOrigin + performance.now()
    for (const [process, before] of last) {
      const waited = waitedMs(process)
      if (waited > before) waits.push({ since, at, ms: waited - before })
      last.set(process, waited)
    }
    since = at
  }
  const timer = setInterval(look, SAMPLE_MS)
  onTestFinished(() => clearInterval(timer))
  const sum = (some: typeof waits) => some.reduce((total, { ms }) => total + ms, 0)
  return {
    between: (from, to) => {
      const within = waits.filter(({ at, ms }) => ms >= STALL_MS && at >= from && at - ms <= to)
      return Math.min(to - from, sum(within))
    },
    waited: (from, to) => sum(waits.filter((wait) => wait.at >= from && wait.since <= to)),
  }
}
