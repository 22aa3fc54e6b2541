/**
 * A model of the throttle in the scripts: GCRA with send times. lane-claim.lua gives them out, and renew-claims-1.lua
 * renews them. A lane stores one number, its theoretical arrival time (`tat`): the earliest time of the next send. Each
 * reserved send time moves it by 1/rate. Send times of a lane are therefore never closer than 1/rate, for any number of
 * workers.
 */
import { NUMBER } from '../../scripts/lua-numbers.ts'
import { sendLateMsMax } from './send-time-bounds.ts'

const { IN_TIME_MS, RENEWED_AHEAD_MS, STORED_AHEAD_MAX_MS } = NUMBER

interface Reservation {
  /**
   * The reserved send times in ascending order, each between now and now + aheadMs. If this span has fewer, there are
   * fewer than `count`.
   */
  sendAt: number[]
  tat: number
}

/** Reserves up to `count` sends at `rate` a second. `tat` is 0 for a lane that never sent. Times are epoch ms. */
export function reserve(tat: number, now: number, rate: number, aheadMs: number, count: number): Reservation {
  const gap = 1_000 / rate
  let first = Math.max(tat, now)
  // No reservation or renewal leaves the tat that far ahead, so the clock was set back. Waiting for it would stop the
  // lane.
  if (first > now + STORED_AHEAD_MAX_MS + gap) first = now + aheadMs + gap
  const fitting = Math.max(0, Math.ceil((now + aheadMs - first) / gap))
  const taken = Math.min(count, fitting)
  // This multiplies, because adding small gaps one by one would drift: an epoch in ms leaves few digits for them.
  const sendAt = Array.from({ length: taken }, (_, index) => first + index * gap)
  return { sendAt, tat: first + taken * gap }
}

interface Renewal {
  rate: number
  /** Send times of the worker's claims, ascending. null: the claim makes another request, and needs a new send time. */
  planned: (number | null)[]
  /** Late claims get no send time earlier than this many ms from now. */
  leadMs: number
}

/**
 * New send times for unsent claims. If they have the last send times that the lane has given out, they and the tat
 * move by the delay. Send times stay 1/rate apart, so the bound above holds, and no claim loses its place. Otherwise
 * late claims take the next free ones. null: there is none within RENEWED_AHEAD_MS.
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

/** Whether the send time can no longer be used. */
export function isMissed(sendAt: number, now: number, rate: number): boolean {
  return now - sendAt > sendLateMsMax(rate)
}
