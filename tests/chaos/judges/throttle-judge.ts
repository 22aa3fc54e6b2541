/**
 * Compares the requests that the workers sent with the throttles: at most 1.1 r + 1 requests in any second, by all
 * workers together.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENDPOINTS } from '../inputs/endpoints.ts'

const WINDOW_MS = 1_000

/** Milliseconds of every request by the endpoint's name, in order. */
export function readSends(folder: string): Map<string, number[]> {
  const sends = new Map<string, number[]>()
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const [at, path] = line.split(' /')
      // The last line of a killed worker may be incomplete.
      if (at === undefined || path === undefined || !(path in ENDPOINTS)) continue
      const times = sends.get(path) ?? []
      times.push(Number(at))
      sends.set(path, times)
    }
  }
  for (const times of sends.values()) times.sort((a, b) => a - b)
  return sends
}

export interface ThrottleFound {
  name: string
  /** Number of requests in the fullest second, which began at `from` (ms of the monotonic clock). */
  most: number
  from: number
  /** The allowed number. */
  max: number
}

export function fullestSeconds(sends: Map<string, number[]>): ThrottleFound[] {
  return Object.entries(ENDPOINTS).flatMap(([name, { perSecond }]) =>
    perSecond === undefined
      ? []
      : [{ name, max: Math.floor(1.1 * perSecond + 1), ...fullestWindow(sends.get(name) ?? []) }],
  )
}

export function judgeThrottles(found: ThrottleFound[]): string[] {
  return found
    .filter(({ most, max }) => most > max)
    .map(
      ({ name, most, from, max }) =>
        `${name}: ${most} requests in a second (from ${from.toFixed(1)} ms) instead of ${max}`,
    )
}

/** The second with the most requests. It begins with one of them. */
export function fullestWindow(times: number[]): { most: number; from: number } {
  let most = 0
  let from = 0
  let first = 0
  for (const [last, at] of times.entries()) {
    while (at - (times[first] ?? at) >= WINDOW_MS) first++
    if (last - first + 1 <= most) continue
    most = last - first + 1
    from = times[first] ?? at
  }
  return { most, from }
}
