/** Checks whether the filters of subscriptions match stored messages. */
import type { Message, SubscriptionRecord } from '@fantail/contracts'
import { textForProtocol } from '@fantail/delivery'
import { explainFilter, PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX, parsedBytes } from '@fantail/policy'
import { SplitBudget, TimeSlices } from '@fantail/runtime'

export class FilterMatches {
  readonly #timeSlices = new TimeSlices()
  readonly #parsed = new SplitBudget(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  /** Shares the event loop with other work of the process. */
  async ask(record: SubscriptionRecord, message: Message): Promise<boolean> {
    const { filterPolicy, filterPolicyScope = 'MessageAttributes', protocol } = record
    if (!filterPolicy) return true
    const text = textForProtocol(message, protocol)
    const asked = { message: text, attributes: message.attributes }
    const bytes = parsedBytes(Buffer.byteLength(text))
    await this.#parsed.enter(bytes)
    try {
      const explained = await this.#timeSlices.run(
        explainFilter(filterPolicy, filterPolicyScope, asked),
        () => false,
      )
      return explained?.matched ?? false
    } finally {
      this.#parsed.leave(bytes)
    }
  }
}
