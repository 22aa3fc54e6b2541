/**
 * A subscription chooses messages by its filter policy, and by event types. Each rule of the policy gets one more
 * clause for the types. Indexes and matches therefore treat types like every other key.
 */
import {
  EVENT_TYPE_ATTRIBUTE,
  eventTypeConditions,
  type FilterPolicy,
  type FilterPolicyScope,
} from '@fantail/contracts'
import type { Clause, Rule } from './filter-rules.ts'
import { clauseOf } from './read-filter.ts'

export interface Filtering {
  filterPolicy?: FilterPolicy | null | undefined
  /** Absent: MessageAttributes. */
  filterPolicyScope?: FilterPolicyScope | null | undefined
  /** Names and patterns. Absent or null: any type or none. */
  eventTypes?: readonly string[] | null | undefined
}

/**
 * The path of a message's event type in subjects of both scopes. Its first name is that of the attribute, which leads
 * to the clause (filter-drawers.ts). No attribute has this path.
 */
export const EVENT_TYPE_PATH = `${EVENT_TYPE_ATTRIBUTE}.\0`

/** False: every message matches. */
export function isFiltered({ filterPolicy, eventTypes }: Filtering): boolean {
  return Boolean(filterPolicy) || Boolean(eventTypes)
}

/** The part of a message that the policy looks at. Without a policy only the attributes count. */
export function scopeOf({ filterPolicy, filterPolicyScope }: Filtering): FilterPolicyScope {
  return (filterPolicy ? filterPolicyScope : undefined) ?? 'MessageAttributes'
}

export function typeClause(eventTypes: readonly string[]): Clause {
  return clauseOf(EVENT_TYPE_PATH, eventTypeConditions(eventTypes))
}

export function withClause(rules: readonly Rule[], clause: Clause): Rule[] {
  return rules.map((rule) => [clause, ...rule])
}
