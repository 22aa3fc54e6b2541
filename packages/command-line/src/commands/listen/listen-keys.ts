/**
 * Keys for the message that was refused last, while a person watches: `r` sends it again now, `d` shows request and
 * answer, `s` drops it.
 */
import { fantailQueue, type MessageSource, type QueueMessage } from '@fantail/consumer'
import { printable } from '@fantail/policy'
import type { CommandContext, Server } from '../../frame/command-context.ts'
import { hasKeys, readKeys } from '../../frame/terminal-keys.ts'
import type { Exchange } from './forward.ts'

interface Refused {
  message: QueueMessage
  exchange: Exchange
}

export class ListenKeys {
  readonly #context: CommandContext
  readonly #source: MessageSource
  #refused: Refused | undefined
  #giveBack: (() => void) | undefined

  constructor(context: CommandContext, { url, apiKey }: Server, queue: string) {
    this.#context = context
    this.#source = fantailQueue(queue, { url, ...(apiKey !== undefined && { apiKey }) })
  }

  /** The end of the line about a refused message, which names the keys. */
  get hint(): string {
    return hasKeys(this.#context) ? '  [r]etry [d]etail [s]kip' : ''
  }

  start(): void {
    this.#giveBack = readKeys(this.#context, (key) => void this.#press(key))
  }

  /** Gives the terminal back. */
  stop(): void {
    this.#giveBack?.()
  }

  refused(message: QueueMessage, exchange: Exchange): void {
    this.#refused = { message, exchange }
  }

  async #press(key: string): Promise<void> {
    const { out } = this.#context
    const refused = this.#refused
    if (!refused || !'rds'.includes(key)) return
    const { receiptHandle } = refused.message
    const { messageId } = refused.exchange.line
    try {
      if (key === 'd') out.note(detailOf(refused.exchange))
      if (key === 'r') {
        const [problem] = await this.#source.hide([receiptHandle], 0)
        out.note(problem ? `${messageId} is already under way` : `${messageId} is sent again now`)
      }
      if (key === 's') {
        const [problem] = await this.#source.delete([receiptHandle])
        out.note(problem ? `${messageId} is already under way` : `${messageId} is dropped`)
      }
    } catch (error) {
      out.warn(`${messageId}: ${(error as Error).message}`)
    }
  }
}

function detailOf({ line, request, answer }: Exchange): string {
  const sent = Object.entries(request.headers).map(([name, value]) => `> ${name}: ${value}`)
  const got = [String(line.statusCode ?? line.error), ...answer.headers, '', ...answer.text.split('\n')]
  return [`> POST ${line.url}`, ...sent, '>', ...request.text.split('\n').map((text) => `> ${text}`), '']
    .concat(got.map((text) => `< ${text}`))
    .map(printable)
    .join('\n')
}
