/** Tries filter policies on messages. Trials take turns with each other, so that no other request waits for them. */
import type { FilterPolicy, FilterPolicyScope, MessageAttribute } from '@fantail/contracts'
import {
  explainFilter,
  type FilterExplanation,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
} from '@fantail/policy'
import { SplitBudget, TimeSlices } from '@fantail/runtime'

interface Tried {
  filterPolicy: FilterPolicy
  scope: FilterPolicyScope
  /** The text for subscribers of the protocol. */
  message: string
  attributes?: Record<string, MessageAttribute> | undefined
  /** Bytes of the request. */
  bytes: number
}

export class FilterTrials {
  readonly #timeSlices = new TimeSlices()
  /** For the parsed messages. */
  readonly #parsed = new SplitBudget(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  /** The verdict by clause. */
  async explain({
    filterPolicy,
    scope,
    message,
    attributes,
    bytes,
  }: Tried): Promise<FilterExplanation | undefined> {
    const explanation = explainFilter(filterPolicy, scope, { message, attributes })
    const parsed = parsedBytes(bytes)
    await this.#parsed.enter(parsed)
    try {
      return await this.#timeSlices.run(explanation, () => false)
    } finally {
      this.#parsed.leave(parsed)
    }
  }
}
