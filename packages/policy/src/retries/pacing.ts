/**
 * Bounds of the throttle's send times (GCRA). Scripts give them out, never closer than 1/rate: store's lane-next.lua
 * and renew-claims-1.lua.
 *
 * Rejected: a bucket of tokens. Taken in turns it reaches 87 to 94 % of the rate, and one as deep as the rate doubles
 * it within a window. Send times reach 100 % with at most rate + 1 in any second.
 */

/**
 * How far ahead of now send times are given out: past it a worker that dies would waste what it holds.
 * @limit How far ahead of its send time a throttled delivery may be claimed. Past it: it waits in its lane.
 */
export const SEND_AHEAD_MS = 250

/**
 * Sends that are up to L late and fall into one second have send times within 1 s + L. At most (1 + L)·rate + 1 of them
 * fit: 100 ms keeps that at 1.1·rate + 1, and 250 ms would not.
 * @limit How late a send time may still be used. Past it: the claim gets a new send time.
 */
export const SEND_LATE_MS_MAX = 100

/**
 * The same at a rate a second. Whole requests are counted: below 10 a second, sends that are late by less than the gap
 * between two send times add none to any second. Half a gap leaves as much again for the way to the endpoint. Below one
 * a second it stays at half a second, so that no claim outlives its lease.
 */
export function sendLateMsMax(rate: number): number {
  return Math.max(SEND_LATE_MS_MAX, 500 / Math.max(rate, 1))
}
