/**
 * Milliseconds of a clock that all processes of a machine share and that is never set. It is read each time: an offset
 * that is taken once stays wrong if the process is interrupted while it takes it.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
