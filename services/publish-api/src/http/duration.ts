/** Durations for log lines, to a tenth of a millisecond. */
export function msSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10
}
