/** The part of a logger that the consumer and its guards use. */
export interface ConsumerLog {
  warn(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
}
