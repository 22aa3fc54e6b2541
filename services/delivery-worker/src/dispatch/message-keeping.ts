/**
 * Puts messages into the rings of topics that keep them, before their job ends or they leave their FIFO log. If a
 * worker dies before that, the next start or reader keeps the messages. Topics without a ring cost nothing. The first
 * messages after a pause are written at once, and those that come within KEEP_EVERY_MS of a write together by topic.
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

/** Time between two writes, each of which makes Redis write to its disk. Several topics are written at one time. */
const KEEP_EVERY_MS = 10

interface MessageKeepingOptions {
  kept: Pick<KeptMessages, 'keep'>
  upkeep: Pick<KeptUpkeep, 'look'>
  memory: Pick<StorageGuard, 'refresh' | 'sample'>
  log: Logger
}

/** Messages of a topic that are written together. */
interface Gathered {
  messages: NewKept[]
  written: Promise<void>
}

export class MessageKeeping {
  readonly #options: MessageKeepingOptions
  readonly #report: ReportState
  /** By the topic's uid. */
  readonly #gathered = new Map<string, Gathered>()
  /** When the last write began, by performance.now(). */
  #wroteAt = Number.NEGATIVE_INFINITY

  constructor(options: MessageKeepingOptions) {
    this.#options = options
    this.#report = createStateLog({ log: options.log, what: 'kept_messages', initial: 'up' })
  }

  /**
   * Keeps the messages, unless memory is short. Rejects only if Redis does not answer, as every other write of the job
   * does then. A ring never delays a message.
   */
  async keep(messages: NewKept[]): Promise<void> {
    const { upkeep, memory } = this.#options
    await memory.refresh()
    upkeep.look()
    const { usedBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = memory.sample ?? {}
    if (usedBytes >= limitBytes * KEPT_GIVE_WAY_SHARE)
      return this.#report('down', new Error('memory is short'))
    // Topics fail separately: the master of one may be away.
    await Promise.all([...new Set(messages.map((message) => this.#gather(message)))])
  }

  /** Resolves when the message is written. */
  #gather(message: NewKept): Promise<void> {
    const gathered = this.#gathered.get(message.uid)
    if (gathered) {
      gathered.messages.push(message)
      return gathered.written
    }
    const messages = [message]
    const written = this.#writeSoon(message.uid, messages)
    this.#gathered.set(message.uid, { messages, written })
    return written
  }

  async #writeSoon(uid: string, messages: NewKept[]): Promise<void> {
    const waitMs = this.#wroteAt + KEEP_EVERY_MS - performance.now()
    await new Promise<void>((resolve) => {
      if (waitMs > 0) setTimeout(resolve, waitMs)
      else setImmediate(resolve)
    })
    this.#gathered.delete(uid)
    this.#wroteAt = performance.now()
    try {
      await this.#options.kept.keep(messages)
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
