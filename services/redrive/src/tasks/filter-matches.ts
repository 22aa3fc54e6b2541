import type { Message, SubscriptionRecord } from '@fantail/contracts'
import { textForProtocol } from '@fantail/delivery'
import {
  explainFilter,
  isFiltered,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
} from '@fantail/policy'
import { SplitSemaphore, TimeSlices } from '@fantail/runtime'
import { type BodySeals, ifReadable, openMessage } from '@fantail/store'

/** Checks whether the filters of subscriptions match stored messages, which it opens for that. */
export class FilterMatches {
  readonly #seals: BodySeals
  readonly #timeSlices = new TimeSlices()
  readonly #parsed = new SplitSemaphore(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  constructor(seals: BodySeals) {
    this.#seals = seals
  }

  /**
   * Shares the event loop with other work of the process. Throws a SealKeyError. A message that was changed matches, so
   * that the worker finds it in its lane and puts it into the quarantine.
   */
  async ask(record: SubscriptionRecord, stored: Message): Promise<boolean> {
    if (!isFiltered(record)) return true
    const [message] = ifReadable(() => openMessage(this.#seals, stored))
    if (!message) return true
    const text = textForProtocol(message, record.protocol)
    const asked = { message: text, attributes: message.attributes }
    const bytes = parsedBytes(Buffer.byteLength(text))
    await this.#parsed.acquire(bytes)
    try {
      const explained = await this.#timeSlices.run(explainFilter(record, asked), () => false)
      return explained?.matched ?? false
    } finally {
      this.#parsed.release(bytes)
    }
  }
}
