/** The events of a consumer, and a count of each. */
import { EventEmitter } from 'node:events'
import type { LostReason } from './lease.ts'
import type { QueueMessage } from './sources/messages.ts'

/** The request that failed. */
export type ProblemAction =
  | 'receive'
  | 'delete'
  | 'hide'
  | 'heartbeat'
  | 'idempotency'
  | 'attempts'
  | 'poison'

export interface ConsumerEventMap {
  /** Before its handler begins. */
  received: [message: QueueMessage]
  /** The handler has returned, and the message is deleted or was already gone. */
  succeeded: [message: QueueMessage, durationMs: number]
  /** The handler threw, or its time was over. Without a listener, Node prints a process warning. */
  failed: [message: QueueMessage, error: unknown]
  /** The message stays hidden for this number of seconds from now. */
  extended: [message: QueueMessage, seconds: number]
  /** Another consumer may get the message while its handler runs. */
  lost: [message: QueueMessage, reason: LostReason]
  /** The message was done before, so it was deleted without its handler. */
  repeated: [message: QueueMessage]
  /** The message went to the queue for poisonous messages. */
  poisoned: [message: QueueMessage]
  /** A request to the queue or to Redis failed. Without a listener, Node prints a process warning. */
  problem: [error: unknown, action: ProblemAction]
}

export interface ConsumerCounts {
  received: number
  succeeded: number
  failed: number
  extended: number
  lost: number
  repeated: number
  poisoned: number
  problems: number
}

export class ConsumerEvents extends EventEmitter<ConsumerEventMap> {
  readonly counts: ConsumerCounts = {
    received: 0,
    succeeded: 0,
    failed: 0,
    extended: 0,
    lost: 0,
    repeated: 0,
    poisoned: 0,
    problems: 0,
  }

  received(message: QueueMessage): void {
    this.counts.received++
    this.emit('received', message)
  }

  succeeded(message: QueueMessage, durationMs: number): void {
    this.counts.succeeded++
    this.emit('succeeded', message, durationMs)
  }

  failed(message: QueueMessage, error: unknown): void {
    this.counts.failed++
    if (!this.emit('failed', message, error))
      process.emitWarning(`the handler of message ${message.id} failed: ${textOf(error)}`)
  }

  extended(message: QueueMessage, seconds: number): void {
    this.counts.extended++
    this.emit('extended', message, seconds)
  }

  lost(message: QueueMessage, reason: LostReason): void {
    this.counts.lost++
    this.emit('lost', message, reason)
  }

  repeated(message: QueueMessage): void {
    this.counts.repeated++
    this.emit('repeated', message)
  }

  poisoned(message: QueueMessage): void {
    this.counts.poisoned++
    this.emit('poisoned', message)
  }

  problem(error: unknown, action: ProblemAction): void {
    this.counts.problems++
    if (!this.emit('problem', error, action)) process.emitWarning(`${action} failed: ${textOf(error)}`)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
