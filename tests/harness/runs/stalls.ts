/**
 * Finds stalls: times in which processes were ready to run but the machine ran other processes. A process cannot keep
 * its pace in a stall.
 */
import { steadyNow, Waits, waitedMs } from '@fantail/test-kit'
import { onTestFinished } from 'vitest'

const SAMPLE_MS = 10
/** An idle machine has shorter waits too. */
const NOTED_MS = 10
/** A shorter stall makes nothing late, because a throttled request may be sent later by more than this. */
const STALL_MS = 50

/** Times of `steadyNow`. */
export interface Stall {
  process: number | 'self'
  from: number
  to: number
  /**
   * How long the process was ready to run between `from` and `to`, but had no processor. For `self`, how late this
   * process's timer fired, so its own work counts too.
   */
  ms: number
}

export interface Stalls {
  /** The sum in ms of stalls between two times. It is at most the time between them. */
  between(from: number, to: number): number
  /** Like `between`, but for all waits of all processes, including short ones. */
  waited(from: number, to: number): number
  /**
   * The ms between two times in which at least one process waited, or in which this process was busy and noticed
   * nothing.
   */
  covered(from: number, to: number): number
  /** All of at least 10 ms. */
  all(): Stall[]
}

/**
 * Watches this process and `pids` until the test ends. Tests that run at the same time must pass the
 * `onTestFinished` of their own context.
 */
export function watchStalls(pids: number[], onEnd: (stop: () => void) => void = onTestFinished): Stalls {
  const waits: Stall[] = []
  const own: Stall[] = []
  /** Both, in order. */
  const late: Stall[] = []
  const last = new Map(['self' as const, ...pids].map((process) => [process, waitedMs(process)]))
  let since = steadyNow()
  const look = () => {
    const [from, to] = [since, steadyNow()]
    since = to
    const mine: Stall = { process: 'self', from, to, ms: to - from - SAMPLE_MS }
    own.push(mine)
    if (mine.ms >= NOTED_MS) late.push(mine)
    for (const [process, before] of last) {
      const waited = waitedMs(process)
      if (waited > before) {
        const wait = { process, from, to, ms: waited - before }
        waits.push(wait)
        late.push(wait)
      }
      last.set(process, waited)
    }
  }
  const timer = setInterval(look, SAMPLE_MS)
  onEnd(() => clearInterval(timer))
  const sum = (some: Stall[]) => some.reduce((total, { ms }) => total + ms, 0)
  return {
    between: (from, to) => {
      const within = waits.filter((wait) => wait.ms >= STALL_MS && wait.to >= from && wait.to - wait.ms <= to)
      return Math.min(to - from, sum(within))
    },
    waited: (from, to) => sum(waits.filter((wait) => wait.to >= from && wait.from <= to)),
    covered: (from, to) => {
      const covered = new Waits()
      for (const { to: until, ms } of late) {
        const [begun, ended] = [Math.max(from, until - ms), Math.min(to, until)]
        if (begun < ended) covered.add(begun, ended)
      }
      return covered.ms()
    },
    all: () =>
      [...own, ...waits.filter(({ process }) => process !== 'self')].filter(({ ms }) => ms >= NOTED_MS),
  }
}
