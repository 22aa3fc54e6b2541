/**
 * Puts messages into the rings of topics that keep them, before their job ends or they leave their FIFO log. If a
 * worker dies before that, the next start or reader keeps the messages. Topics without a ring cost nothing.
 */
import type { TopicRecord } from '@fantail/contracts'
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import {
  isOutOfMemory,
  isScriptFault,
  KEPT_GIVE_WAY_SHARE,
  type KeptMessages,
  type KeptUpkeep,
  type NewKept,
  type StorageGuard,
} from '@fantail/store'
import type { MessageContext } from '../topics/message-context.ts'

interface MessageKeepingOptions {
  kept: Pick<KeptMessages, 'keep'>
  upkeep: Pick<KeptUpkeep, 'look'>
  memory: Pick<StorageGuard, 'refresh' | 'sample'>
  log: Logger
}

export class MessageKeeping {
  readonly #options: MessageKeepingOptions
  readonly #report: ReportState

  constructor(options: MessageKeepingOptions) {
    this.#options = options
    this.#report = createStateLog({ log: options.log, what: 'kept_messages', initial: 'up' })
  }

  /**
   * Keeps the messages, unless memory is short. Rejects only if Redis does not answer, as every other write of the job
   * does then. A ring never delays a message.
   */
  async keep(messages: NewKept[]): Promise<void> {
    const { kept, upkeep, memory } = this.#options
    await memory.refresh()
    upkeep.look()
    const { usedBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = memory.sample ?? {}
    if (usedBytes >= limitBytes * KEPT_GIVE_WAY_SHARE)
      return this.#report('down', new Error('memory is short'))
    try {
      await kept.keep(messages)
      this.#report('up')
    } catch (error) {
      this.#report('down', error)
      if (!isRefusal(error)) throw error
    }
  }
}

/** A message in the form for its topic's ring. */
export function keptForm({ arn, uid }: TopicRecord, { id, body }: MessageContext): NewKept {
  return { arn, uid, id, body }
}

/** Redis ran the script and refused it permanently, or has no memory. To repeat the write would not help. */
function isRefusal(error: unknown): boolean {
  return isOutOfMemory(error) || isScriptFault(error)
}
