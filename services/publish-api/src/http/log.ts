export interface Log {
  /** Check it before building an expensive line. */
  isLevelEnabled(level: 'debug' | 'info'): boolean
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}

/** Durations for log lines, to a tenth of a millisecond. */
export function msSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10
}
