/**
 * Milliseconds of a clock that all processes of a machine share and nobody sets. Read anew each time: an offset that is
 * taken once is wrong for good where the process is interrupted while it takes it.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
