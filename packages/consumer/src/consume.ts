/** Starts consumers. */
import { type ConsumerOptions, settingsOf } from './consumer-options.ts'
import type { HandlerContext } from './handling.ts'
import { Consumer } from './queue-consumer.ts'
import type { MessageSource, QueueMessage } from './sources/messages.ts'
import type { FantailQueueOptions } from './sources/native-api.ts'
import { fantailQueue } from './sources/native-source.ts'

export interface ConsumeOptions extends ConsumerOptions {
  /** Where the queue is, if it is not reached through Fantail's own API, for example `sqs(queueUrl)`. */
  from?: MessageSource
  /** The address of Fantail, and the key. Default: the settings of the environment. */
  fantail?: FantailQueueOptions
}

export interface BatchOptions extends ConsumeOptions {
  /** Messages of one call at most, 1 to 10. Default: 10. */
  batchSize?: number
}

/** The message is done when the handler returns, and fails when it throws. */
export type Handler = (message: QueueMessage, context: HandlerContext) => Promise<void> | void

export interface BatchResult {
  /** Ids of the messages that failed. */
  failed: readonly string[]
}

/** Returns the messages that failed. The other messages are done. If it throws, all have failed. */
export type BatchHandler = (
  messages: QueueMessage[],
  context: HandlerContext,
) => Promise<BatchResult | undefined> | BatchResult | undefined

/**
 * Consumes a queue with one call of the handler per message. `queue`: a name or an ARN, or a source such as
 * `sqs(queueUrl)`. Throws `TypeError` for options that cannot be used.
 */
export function consume(
  queue: string | MessageSource,
  handler: Handler,
  options: ConsumeOptions = {},
): Consumer {
  const source = sourceOf(queue, options)
  const settings = settingsOf(options, source)
  const run = async ([message]: QueueMessage[], context: HandlerContext): Promise<string[]> => {
    if (message) await handler(message, context)
    return []
  }
  return new Consumer({ source, settings, run, batchSize: 1 })
}

/** Like `consume`, but one call of the handler gets several messages of one receive. */
export function consumeBatch(
  queue: string | MessageSource,
  handler: BatchHandler,
  { batchSize = 10, ...options }: BatchOptions = {},
): Consumer {
  const source = sourceOf(queue, options)
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > source.receiveMax)
    throw new TypeError(`batchSize must be a whole number from 1 to ${source.receiveMax}, not ${batchSize}`)
  const settings = settingsOf(options, source)
  const run = async (messages: QueueMessage[], context: HandlerContext) =>
    (await handler(messages, context))?.failed ?? []
  return new Consumer({ source, settings, run, batchSize })
}

function sourceOf(queue: string | MessageSource, { fantail, from }: ConsumeOptions): MessageSource {
  if (typeof queue !== 'string') return queue
  return from ?? fantailQueue(queue, fantail)
}
