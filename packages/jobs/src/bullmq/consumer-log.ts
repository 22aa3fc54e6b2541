/** The part of a logger that the consumers of queues and their guards use. */
export interface ConsumerLog {
  warn(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
}
