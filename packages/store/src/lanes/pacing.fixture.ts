/**
 * The throttle as a pure model of the scripts: GCRA with send times. lane-next.lua reserves them, renew-claims-1.lua
 * renews them. A lane keeps one number, its theoretical arrival time (`tat`): the earliest moment of the next send.
 * Each reserved send time moves it by 1/rate, so send times of a lane are never closer than 1/rate, for any number of
 * workers.
 */
import { sendLateMsMax } from '@fantail/policy'

/** In lane-next.lua. */
const STORED_AHEAD_MAX_MS = 1_000

interface Reservation {
  /** Ascending, each from now to now + aheadMs; fewer than `count` where that span holds no more. */
  sendAt: number[]
  tat: number
}

/** Reserves up to `count` sends at `rate` a second; `tat` is 0 for a lane that never sent, times are epoch ms. */
export function reserve(tat: number, now: number, rate: number, aheadMs: number, count: number): Reservation {
  const gap = 1_000 / rate
  let first = Math.max(tat, now)
  // Further ahead than reservations and renewals leave it: the clock went back. Waiting it out would stall the lane.
  if (first > now + STORED_AHEAD_MAX_MS + gap) first = now + aheadMs + gap
  const fitting = Math.max(0, Math.ceil((now + aheadMs - first) / gap))
  const taken = Math.min(count, fitting)
  // Multiplied, not summed up: an epoch in ms leaves so few digits that adding small gaps one by one would drift.
  const sendAt = Array.from({ length: taken }, (_, index) => first + index * gap)
  return { sendAt, tat: first + taken * gap }
}

/** Renewed claims have send times at most this far ahead; those that would be later go back to their lane. */
export const RENEWED_AHEAD_MS = 700

/** A claim that is later than this may be too late once the reply is read. */
const IN_TIME_MS = 40

interface Renewal {
  rate: number
  /** Send times of the claims in hand, ascending; null: it makes another request, and takes a new one. */
  planned: (number | null)[]
  /** Nothing late is sent before this much time has passed. */
  leadMs: number
}

/**
 * New send times for claims in hand. If they are the last that the lane has given out, they and the tat move by the
 * delay. Send times stay 1/rate apart, so the bound above holds, and the lane loses the delay instead of their turns.
 * Otherwise late claims take the next free ones. null: there is none within RENEWED_AHEAD_MS.
 */
export function renew(tat: number, now: number, { rate, planned, leadMs }: Renewal) {
  const gap = 1_000 / rate
  const [from] = planned
  const areLast =
    typeof from === 'number' && Math.abs(Math.max(tat, now) - from - planned.length * gap) < gap / 2
  let next = areLast ? from : tat
  let moved = false
  const sendAt = planned.map((at) => {
    if (!areLast && at !== null && at >= now - IN_TIME_MS) return at
    const time = Math.max(next, now + leadMs)
    if (time > now + RENEWED_AHEAD_MS) return null
    next = time + gap
    moved = true
    return time
  })
  return { sendAt, tat: moved ? next : tat }
}

/** Whether a send time has passed for good. */
export function isMissed(sendAt: number, now: number, rate: number): boolean {
  return now - sendAt > sendLateMsMax(rate)
}
