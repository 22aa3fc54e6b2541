/** Queues: send, receive, acknowledge, look inside, dead letters. */
import type { Client } from '../generated/client/index.ts'
import {
  acknowledgeMessages,
  type CountDeadLettersData,
  changeVisibility,
  countDeadLetters,
  createQueue,
  type DeadLetterCounts,
  deleteQueue,
  deleteQueueMessage,
  type EditedRedrive,
  type EditInput,
  getQueue,
  getQueueMessage,
  type HandleResults,
  listQueues,
  type PeekMessagesData,
  type PurgeInput,
  type PurgeResult,
  peekMessages,
  purgeQueue,
  type Queue,
  type QueueInput,
  type QueueMessage,
  type QueueMessageInput,
  type QueueSendReceipt,
  type ReceivedMessage,
  type ReceiveInput,
  type Redrive,
  receiveMessages,
  redriveMessage,
  sendMessages,
  updateQueue,
} from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'
import { Listing } from './listing.ts'
import type { Content } from './topic-handle.ts'

export interface SendOptions extends Omit<QueueMessageInput, 'body'>, CallOptions {}

type PeekFilter = Omit<NonNullable<PeekMessagesData['query']>, 'cursor'>

/** A receive without a wait of its own may take as long as the queue's setting says, which is at most this. */
const LONGEST_RECEIVE_WAIT_S = 20

export class QueueHandle {
  /** Name or ARN. */
  readonly queue: string
  readonly #at: { client: Client; path: { queue: string } }

  constructor(client: Client, queue: string) {
    this.queue = queue
    this.#at = { client, path: { queue } }
  }

  /** Makes the queue. If it exists with the same settings, returns it. */
  create(settings?: QueueInput, options?: CallOptions): Promise<Queue> {
    return createQueue({ ...this.#at, ...options, body: settings })
  }

  get(options?: CallOptions): Promise<Queue> {
    return getQueue({ ...this.#at, ...options })
  }

  update(changes: QueueInput, options?: CallOptions): Promise<Queue> {
    return updateQueue({ ...this.#at, ...options, body: changes })
  }

  async delete(options?: CallOptions): Promise<void> {
    await deleteQueue({ ...this.#at, ...options })
  }

  /**
   * Resolves when the message is in the queue. It is not sent again after a lost answer, because a standard queue would
   * then contain it twice.
   */
  async send(content: Content, options: SendOptions = {}): Promise<QueueSendReceipt> {
    const { attributes, delaySeconds, groupId, deduplicationId, ...call } = options
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const body = { body: text, attributes, delaySeconds, groupId, deduplicationId } as QueueMessageInput
    return (await sendMessages({ ...this.#at, ...call, body })) as QueueSendReceipt
  }

  /** Sends up to 100 messages, all or none. */
  async sendAll(messages: readonly QueueMessageInput[], options?: CallOptions): Promise<QueueSendReceipt[]> {
    const answer = await sendMessages({ ...this.#at, ...options, body: { messages: [...messages] } })
    return (answer as { results: QueueSendReceipt[] }).results
  }

  /** Waits for messages for `waitSeconds`, or else as long as the queue's setting says. */
  async receive(wanted: ReceiveInput = {}, options?: CallOptions): Promise<ReceivedMessage[]> {
    const call = { ...options, serverWaitMs: (wanted.waitSeconds ?? LONGEST_RECEIVE_WAIT_S) * 1_000 }
    return (await receiveMessages({ ...this.#at, ...call, body: wanted })).messages
  }

  /** Deletes received messages. One result for each handle. */
  async acknowledge(receiptHandles: string[], options?: CallOptions): Promise<HandleResults['results']> {
    return (await acknowledgeMessages({ ...this.#at, ...options, body: { receiptHandles } })).results
  }

  /** Hides received messages for this time from now. 0 makes them visible at once. */
  async changeVisibility(
    receiptHandles: string[],
    visibilityTimeoutSeconds: number,
    options?: CallOptions,
  ): Promise<HandleResults['results']> {
    const body = { receiptHandles, visibilityTimeoutSeconds }
    return (await changeVisibility({ ...this.#at, ...options, body })).results
  }

  /** Removes all messages, or the dead letters that match a filter. If there are many, the answer is a task. */
  purge(settings?: PurgeInput, options?: CallOptions): Promise<PurgeResult | Redrive> {
    return purgeQueue({ ...this.#at, ...options, body: settings })
  }

  /** Looks at messages without receiving them. */
  peek(filter: PeekFilter = {}, options?: CallOptions): Listing<QueueMessage> {
    return new Listing(async (cursor) => {
      const page = await peekMessages({ ...this.#at, ...options, query: { ...filter, cursor } })
      return { items: page.messages, nextCursor: page.nextCursor }
    })
  }

  message(messageId: string, options?: CallOptions): Promise<QueueMessage> {
    return getQueueMessage({ client: this.#at.client, path: { ...this.#at.path, messageId }, ...options })
  }

  async deleteMessage(messageId: string, options?: CallOptions): Promise<void> {
    await deleteQueueMessage({ client: this.#at.client, path: { ...this.#at.path, messageId }, ...options })
  }

  /** Sends one message again, with another text or other attributes. */
  redriveMessage(messageId: string, changes: EditInput = {}, options?: CallOptions): Promise<EditedRedrive> {
    const path = { ...this.#at.path, messageId }
    return redriveMessage({ client: this.#at.client, path, ...options, body: changes })
  }

  /** Counts dead letters. With `groupBy` or a filter it says how far it looked. */
  deadLetters(
    query: NonNullable<CountDeadLettersData['query']> = {},
    options?: CallOptions,
  ): Promise<DeadLetterCounts> {
    return countDeadLetters({ ...this.#at, ...options, query })
  }
}

interface QueueFilter {
  /** Only queues whose name begins so. */
  prefix?: string
  /** Queues per page, 1 to 100. */
  limit?: number
}

export interface QueuesOf {
  (queue: string): QueueHandle
  list(filter?: QueueFilter, options?: CallOptions): Listing<Queue>
}

export function queuesOf(client: Client): QueuesOf {
  const list = (filter: QueueFilter = {}, options?: CallOptions) =>
    new Listing(async (cursor) => {
      const page = await listQueues({ client, ...options, query: { ...filter, cursor } })
      return { items: page.queues, nextCursor: page.nextCursor }
    })
  return Object.assign((queue: string) => new QueueHandle(client, queue), { list })
}
