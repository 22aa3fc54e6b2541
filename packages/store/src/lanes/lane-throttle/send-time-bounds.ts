/**
 * Bounds of the throttle's send times (GCRA). Scripts give out send times, never closer than 1/rate
 * (lane-throttle.lua): a take with each claim, and renew-claims-1.lua for claims that need new ones. Workers send at
 * them (timed-claims.ts).
 *
 * Rejected: a bucket of tokens. With one token taken at a time it reaches 87 to 94 % of the rate. With a capacity of
 * one second it may send twice the rate in a second. Send times reach 100 %, with at most rate + 1 in any second.
 */

/**
 * SEND_AHEAD_MS (lua-numbers.ts) while a worker's round trips to Redis are long. Past it: a delivery waits in its lane.
 */
export const DISTANT_SEND_AHEAD_MS = 850

/**
 * How late a send time may still be used. Past it: the claim gets a new send time. Suppose that sends may be up to L
 * late. Those within one second then have send times within 1 s + L, at most (1 + L)·rate + 1 of them. L = 100 ms keeps
 * that at 1.1·rate + 1, and 250 ms would not.
 */
export const SEND_LATE_MS_MAX = 100

/**
 * SEND_LATE_MS_MAX for a given rate. A slow rate allows more: if sends are late by less than the gap between two send
 * times, no second gets an additional whole request. That holds below 10 a second. Half a gap is allowed, and the other
 * half is left for the way to the endpoint. Below one a second the bound stays at half a second, so that no claim
 * outlives its lease.
 */
export function sendLateMsMax(rate: number): number {
  return Math.max(SEND_LATE_MS_MAX, 500 / Math.max(rate, 1))
}
