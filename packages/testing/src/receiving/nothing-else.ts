/**
 * Waits until nothing more can come: no work is under way in any process, every message that the stack has accepted is
 * matched, and all their deliveries have ended. It waits for that state and not for a time. So a quiet service costs
 * one check of each message. Paused deliveries do not count.
 */
import type { Delivery } from '@fantail/client/api'
import { deliveriesOf, isOpen, type Watched } from '../waiting/delivery-waits.ts'
import type { PublishedMessages } from '../waiting/published-messages.ts'
import { type WaitOptions, waitUntil } from '../waiting/wait-until.ts'
import type { RequestView } from './request-view.ts'

const LOOKS_AT_ONCE = 10

interface WatchedReceivers extends Watched {
  messages: PublishedMessages
  receivers: readonly RequestView[]
  /** Resolves when nothing is under way: no attempt, job, redrive or push to a consumer. */
  rest(timeoutMs?: number): Promise<unknown>
}

export class Quiet {
  readonly #watched: WatchedReceivers
  /** Messages whose deliveries have ended. */
  readonly #ended = new Set<string>()

  constructor(watched: WatchedReceivers) {
    this.#watched = watched
  }

  /** Rejects if a request comes meanwhile, or if a delivery has not ended after the time. */
  async nothingElse({ timeoutMs }: WaitOptions): Promise<void> {
    const { stand, messages, receivers } = this.#watched
    const before = new Map(receivers.map((receiver) => [receiver, receiver.requests.length]))
    await this.#watched.rest(timeoutMs)
    let open: string[] = []
    const check = async () => {
      open = await this.#openMessages()
      return open.length === 0
    }
    const what = () =>
      `the end of all deliveries: ${open.length} of ${messages.ids.length} messages go on (advance() makes later retries due)`
    await waitUntil(check, { what, timeoutMs, explain: () => stand(open) })
    const more = receivers.flatMap((receiver) => receiver.requests.slice(before.get(receiver)))
    if (more.length === 0) return
    throw new Error(`nothing else was expected, but ${more.length} requests came:\n${more.join('\n')}`)
  }

  async #openMessages(): Promise<string[]> {
    const { messages } = this.#watched
    const rest = messages.ids.filter((id) => !this.#ended.has(id))
    const open: string[] = []
    for (let at = 0; at < rest.length; at += LOOKS_AT_ONCE) {
      const some = rest.slice(at, at + LOOKS_AT_ONCE)
      const goOn = await Promise.all(some.map((id) => this.#goesOn(id)))
      open.push(...some.filter((_, index) => goOn[index]))
    }
    return open
  }

  async #goesOn(messageId: string): Promise<boolean> {
    const deliveries = await deliveriesOf(this.#watched.fantail, messageId)
    if (!deliveries || deliveries.some(comesByItself)) return true
    // A redrive may bring dead letters back, and paused deliveries may continue. So these are checked again.
    if (!deliveries.some((delivery) => isOpen(delivery) || delivery.state === 'deadLettered')) {
      this.#ended.add(messageId)
    }
    return false
  }
}

function comesByItself(delivery: Delivery): boolean {
  return isOpen(delivery) && delivery.cause !== 'paused' && delivery.cause !== 'gone'
}
