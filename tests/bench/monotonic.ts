/** Milliseconds of a clock that all processes of a machine share and nobody sets. */
const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export function monotonicMs(): number {
  return offsetMs + performance.now()
}
