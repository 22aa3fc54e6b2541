/**
 * Filter policies for both APIs (checklist 77 to 102). SNS's rules decide whether a policy is accepted. The parsed
 * policy is stored, not its text.
 */
import type { FilterPolicy, FilterPolicyScope, MessageAttribute, Problem } from '@fantail/contracts'
import {
  explainFilter,
  type FilterExplanation,
  type Filtering,
  FilterPolicyError,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
  parseFilterPolicy,
} from '@fantail/policy'
import { SplitSemaphore, TimeSlices } from '@fantail/runtime'

/** null: the policy is empty, which removes it. Throws a FilterPolicyError. */
export function readFilterPolicy(text: string, scope: FilterPolicyScope): FilterPolicy | null {
  if (text === '') return null
  const policy = parseFilterPolicy(text, scope)
  if (!isStorable(policy))
    throw new FilterPolicyError('failed to parse JSON. A text or number cannot be kept')
  return Object.keys(policy).length > 0 ? policy : null
}

/** The problem of a policy that is given as an object. undefined: there is none. */
function filterProblem(policy: FilterPolicy, scope: FilterPolicyScope): Problem | undefined {
  const path = 'filterPolicy'
  try {
    parseFilterPolicy(policy, scope)
    return isStorable(policy) ? undefined : { path, message: 'holds a text or number that cannot be kept' }
  } catch (error) {
    if (error instanceof FilterPolicyError) return { path, message: `is refused: ${error.explained}` }
    throw error
  }
}

/** Problems of the settings. The rules for a policy depend on its scope. */
export function filterProblems({ filterPolicy, filterPolicyScope }: Filtering): Problem[] {
  if (!filterPolicy) return []
  const problem = filterProblem(filterPolicy, filterPolicyScope ?? 'MessageAttributes')
  return problem ? [problem] : []
}

/** False if JSON.stringify would write another value, or a text that scripts cannot read. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isStorable(member))
}

interface Tried {
  filtering: Filtering
  /** The text for subscribers of the protocol. */
  message: string
  attributes?: Record<string, MessageAttribute> | undefined
  bytes: number
}

/** Tries filter policies on messages. Trials take turns with each other, so that no other request waits for them. */
export class FilterTrials {
  readonly #timeSlices = new TimeSlices()
  /** For the parsed messages. */
  readonly #parsed = new SplitSemaphore(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  /** The verdict by clause. */
  async explain({ filtering, message, attributes, bytes }: Tried): Promise<FilterExplanation | undefined> {
    const explanation = explainFilter(filtering, { message, attributes })
    const parsed = parsedBytes(bytes)
    await this.#parsed.acquire(parsed)
    try {
      return await this.#timeSlices.run(explanation, () => false)
    } finally {
      this.#parsed.release(parsed)
    }
  }
}
