export interface Log {
  /** For lines that cost something to put together. */
  isLevelEnabled(level: 'debug' | 'info'): boolean
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}
