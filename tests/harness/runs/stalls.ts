/** When processes were ready to run and the machine ran others for long: time in which no pace can be kept. */
import { waitedMs } from '@fantail/test-kit'
import { onTestFinished } from 'vitest'

const SAMPLE_MS = 10
/** Shorter ones make nothing late: a throttled request may be sent later by more. */
const STALL_MS = 50

export interface Stalls {
  /** Of the time between two of `performance.timeOrigin + performance.now()`, in ms: no more than that time. */
  between(from: number, to: number): number
}

/** Watches this process and those named until the test ends. */
export function watchStalls(pids: number[]): Stalls {
  const found: { at: number; ms: number }[] = []
  const last = new Map(['self', ...pids].map((process) => [process, waitedMs(process)]))
  const look = () => {
    for (const [process, before] of last) {
      const waited = waitedMs(process)
      if (waited - before >= STALL_MS)
        found.push({ at: performance.timeOrigin + performance.now(), ms: waited - before })
      last.set(process, waited)
    }
  }
  const timer = setInterval(look, SAMPLE_MS)
  onTestFinished(() => clearInterval(timer))
  return {
    between: (from, to) => {
      const within = found.filter(({ at, ms }) => at >= from && at - ms <= to)
      return Math.min(
        to - from,
        within.reduce((sum, { ms }) => sum + ms, 0),
      )
    },
  }
}
