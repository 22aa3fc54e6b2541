/**
 * Moves messages that cannot be decoded from their queue to the quarantine, so that they hold up no other message. The
 * entry is added first. If that fails, or if the quarantine is full, the message stays, and comes up again after its
 * visibility timeout.
 */
import type { Redis } from 'ioredis'
import { ServerMarks } from '../../copies/server-marks.ts'
import { QUARANTINE_BASE } from '../../keys/keys.ts'
import type { Quarantine } from '../../quarantine/quarantine.ts'
import type { QueueContents } from '../items/queue-contents.ts'
import type { UnreadableItem } from '../items/queue-items.ts'

interface Parts {
  redis: Redis
  contents: Pick<QueueContents, 'deleteMessage'>
  quarantine: Pick<Quarantine, 'add'>
  onProblem: (error: Error) => void
}

export class UnreadableItems {
  readonly #contents: Parts['contents']
  readonly #quarantine: Pick<Quarantine, 'add'>
  readonly #servers: ServerMarks
  readonly #onProblem: (error: Error) => void

  constructor({ redis, contents, quarantine, onProblem }: Parts) {
    this.#contents = contents
    this.#quarantine = quarantine
    this.#servers = new ServerMarks([redis])
    this.#onProblem = onProblem
  }

  async remove(arn: string, items: readonly UnreadableItem[]): Promise<void> {
    for (const item of items) {
      try {
        await this.#remove(arn, item)
      } catch (error) {
        this.#onProblem(error as Error)
      }
    }
  }

  async #remove(arn: string, { id, raw, problem }: UnreadableItem): Promise<void> {
    const restsOn = this.#servers.mark(QUARANTINE_BASE)
    const result = await this.#quarantine.add({
      id: `message.${id}.${arn}`,
      reason: 'queueMessageUnreadable',
      detail: `a message of ${arn}: ${problem}`,
      messageId: id,
      raw,
    })
    if (result === 'full') return
    if (!restsOn.holds()) throw new Error('a connection to Redis has closed meanwhile')
    await this.#contents.deleteMessage(arn, id)
  }
}
