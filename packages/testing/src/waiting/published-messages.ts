/**
 * The messages that a stack has accepted, from the log of its API. They include messages that the tested service
 * published.
 */

/** Messages that a test stack follows. Past it: the oldest are no longer waited for. */
const MESSAGES_MAX = 100_000

interface PublishedLine {
  msg?: string
  messageId?: string
  messageIds?: string[]
}

export class PublishedMessages {
  readonly #ids = new Set<string>()

  /** Oldest first. */
  get ids(): string[] {
    return [...this.#ids]
  }

  readLine(line: string): void {
    if (!line.includes('"message.published"')) return
    const {
      msg,
      messageId,
      messageIds = messageId === undefined ? [] : [messageId],
    } = JSON.parse(line) as PublishedLine
    if (msg === 'message.published') for (const id of messageIds) this.add(id)
  }

  add(id: string): void {
    this.#ids.add(id)
    if (this.#ids.size <= MESSAGES_MAX) return
    const [oldest = ''] = this.#ids
    this.#ids.delete(oldest)
  }
}
