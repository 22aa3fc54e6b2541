/**
 * Milliseconds of a clock that all processes of a machine share and that is never set. It is read each time, because a
 * stored offset stays wrong if the process was interrupted while it took the offset.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
