/** The job that both processes of "BullMQ by hand" use. */

export const BULLMQ_QUEUE = 'deliveries'

export interface BullmqJob {
  messageId: string
  url: string
  message: string
}

export function bullmqConnection(): { url: string; maxRetriesPerRequest: null } {
  return { url: process.env.REDIS_URL ?? '', maxRetriesPerRequest: null }
}
