/** The job of the API process and the worker process that use BullMQ without Fantail. */

export const BULLMQ_QUEUE = 'deliveries'

export interface BullmqJob {
  messageId: string
  url: string
  message: string
}

export function bullmqConnection(): { url: string; maxRetriesPerRequest: null } {
  return { url: process.env.REDIS_URL ?? '', maxRetriesPerRequest: null }
}
