/** Messages and the queues that they come from. */

export interface MessageAttribute {
  /** `String`, `Number` or `Binary`, with or without a `.label`. */
  type: string
  /** The value as text; base64 if the type is Binary. */
  value: string
}

export interface QueueMessage {
  id: string
  body: string
  attributes: Record<string, MessageAttribute>
  /** How often the queue has delivered the message, including this time. */
  receiveCount: number
  /** Names this receive of the message. */
  receiptHandle: string
  sentAt: Date
  /** Set for messages of FIFO queues, and for others whose sender set a group. */
  groupId?: string | undefined
}

export interface ReceiveRequest {
  maxMessages: number
  /** How long the queue waits if it has no message. */
  waitSeconds: number
  visibilitySeconds: number
}

/**
 * `lost`: the receive is over, so the message may belong to another consumer. `limit`: a queue hides a message for at
 * most 12 hours after its receive.
 */
export type HandleProblem = 'lost' | 'limit'

/** Undefined: it was done. */
export type HandleResult = HandleProblem | undefined

/** A queue. A method rejects if its request failed. The request may have had its effect nevertheless. */
export interface MessageSource {
  /** The queue's name or URL, for texts that people read. */
  readonly name: string
  /** FIFO: messages of a group are handled one at a time, in order. */
  readonly isFifo: boolean
  /** The most messages of one receive. */
  readonly receiveMax: number
  /** The most handles of one request. */
  readonly handlesMax: number
  receive(request: ReceiveRequest, signal: AbortSignal): Promise<QueueMessage[]>
  /** Deletes by receipt handle. Results have the order of the handles. */
  delete(handles: string[]): Promise<HandleResult[]>
  /** Hides the messages for this number of seconds from now. 0: they are visible at once. */
  hide(handles: string[], seconds: number): Promise<HandleResult[]>
  /**
   * Copies a message to another queue. Only a queue without a redrive policy needs it. Undefined: the server moves
   * poisonous messages itself.
   */
  copyTo?(queue: string, message: QueueMessage): Promise<void>
}

/**
 * How long a message can be hidden after its receive. Past it: the consumer has lost it. A limit of queues, of SQS and
 * of Fantail.
 */
export const HIDDEN_SECONDS_MAX = 43_200
