/** Checks that a throttled lane with a backlog is sent as fast as its rate allows. */
import type { Stall } from '../runs/stalls.ts'

/**
 * How long after its end a stall may still delay sends. Send times are given out up to 250 ms ahead, and a stall may
 * also delay two round trips to Redis.
 */
const FELT_MS = 500

interface PaceOptions {
  /** Per second. */
  rate: number
  windowMs: number
  /** Times in which the machine did not run the senders. */
  stalls: Pick<Stall, 'from' | 'to' | 'ms'>[]
}

/**
 * The lowest rate, per second, in any window of this length that ends before the last second. The rate of a window
 * is `rate`, lowered by the share of the window that was lost. A delay is lost time if the senders never catch up: all
 * later sends are then late by the same time. Stalls shortly before a send are subtracted from its lost time. Each ms
 * of a stall explains at most one lost ms.
 */
export function lowestPace(times: number[], { rate, windowMs, stalls }: PaceOptions): number {
  const sorted = times.toSorted((a, b) => a - b)
  const until = (sorted.at(-1) ?? 0) - 1_000
  const lost = unexplained(sorted, 1_000 / rate, stalls)
  const starts = sorted.filter((time) => time + windowMs <= until)
  if (starts.length === 0) throw new RangeError('no whole window')
  const paces = starts.map((start) => {
    const within = lost.filter(({ at }) => at > start && at <= start + windowMs)
    return rate * (1 - sum(within.map(({ ms }) => ms)) / windowMs)
  })
  return Math.min(...paces)
}

/**
 * The most times in any window of this length. A stall of the senders or the receiver may have moved some of them into
 * the window. These do not count: one for each full gap that the stall lasted.
 */
export function mostUnexplained(times: number[], { rate, windowMs, stalls }: PaceOptions): number {
  const sorted = times.toSorted((a, b) => a - b)
  const most = sorted.map((to) => {
    const from = to - windowMs
    const within = sorted.filter((time) => time > from && time <= to).length
    const felt = stalls.filter((stall) => stall.to >= from - FELT_MS && stall.from <= to)
    return within - Math.floor((sum(felt.map(({ ms }) => ms)) * rate) / 1_000)
  })
  return Math.max(0, ...most)
}

/** The time that was lost right before each send, minus the stalls that explain it. `times`: ascending. */
function unexplained(
  times: number[],
  gapMs: number,
  stalls: PaceOptions['stalls'],
): { at: number; ms: number }[] {
  const left = stalls.map((stall) => ({ ...stall }))
  const lags = times.map((time, n) => time - n * gapMs)
  const forGood = lags.map(() => Number.POSITIVE_INFINITY)
  for (let n = lags.length - 1; n >= 0; n--)
    forGood[n] = Math.min(lags[n] ?? 0, forGood[n + 1] ?? Number.POSITIVE_INFINITY)
  return times.map((at, n) => {
    const before = forGood[n - 1] ?? forGood[n] ?? 0
    const ms = (forGood[n] ?? 0) - before
    return { at, ms: ms - explained(left, (times[n - 1] ?? at) - FELT_MS, at, ms) }
  })
}

/** How much of `ms` is explained by stalls between these times. That part of the stalls is used up. */
function explained(left: PaceOptions['stalls'], from: number, to: number, ms: number): number {
  let open = ms
  for (const stall of left) {
    if (stall.to < from || stall.from > to) continue
    const used = Math.min(open, stall.ms)
    stall.ms -= used
    open -= used
  }
  return ms - open
}

function sum(numbers: number[]): number {
  return numbers.reduce((all, number) => all + number, 0)
}
