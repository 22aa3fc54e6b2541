/** The attempter of every endpoint kind. A protocol without one does not compile. */
import type { Protocol } from '@fantail/contracts'
import type { Attempter } from './attempter.ts'
import { QueueAttempter, type QueueAttempterOptions } from './queue-attempter.ts'
import { WebhookAttempter, type WebhookAttempterOptions } from './webhook-attempter.ts'

export type Attempters = Readonly<Record<Protocol, Attempter>>

export function createAttempters(options: WebhookAttempterOptions & QueueAttempterOptions): Attempters {
  const webhook = new WebhookAttempter(options)
  const queue = new QueueAttempter(options)
  return { http: webhook, https: webhook, sqs: queue }
}
