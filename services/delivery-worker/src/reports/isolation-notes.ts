/**
 * Logs and records isolated messages. Such a message waits behind the rest of its job, or in a log of its own, because
 * starts of the job or readers of the log ended while they matched it, or because matching it threw an error.
 */
import type { Logger } from '@fantail/runtime'
import type { IsolatedMessages } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'

interface IsolationNotesOptions {
  isolated: Pick<IsolatedMessages, 'note' | 'forget'>
  log: Logger
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class IsolationNotes {
  readonly #options: IsolationNotesOptions

  constructor(options: IsolationNotesOptions) {
    this.#options = options
  }

  /**
   * The record only explains why the message waits. If Redis is full, the record is skipped, and nothing waits for it.
   */
  async begin(context: MessageContext, failedStarts: number, delayMs: number): Promise<void> {
    const { log, isolated, now } = this.#options
    const { messageId, topicArn } = context.message
    log.warn({ messageId, topicArn, failedStarts, delayMs }, 'message.isolated')
    const note = { topicArn, sizeBytes: context.sizeBytes, failedStarts, nextAttemptAt: now() + delayMs }
    await isolated
      .note(messageId, note, delayMs)
      .catch((error: unknown) => log.debug({ messageId, err: error }, 'isolation.note_failed'))
  }

  /** Called when the message is in its lanes, or has ended. */
  async end({ message: { messageId } }: MessageContext): Promise<void> {
    const { log, isolated } = this.#options
    await isolated
      .forget(messageId)
      .catch((error: unknown) => log.debug({ messageId, err: error }, 'isolation.forget_failed'))
  }
}
