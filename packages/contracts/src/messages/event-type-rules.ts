/**
 * Event types: the names that say what messages are about. A message's type is its String attribute `eventType`. A
 * subscription chooses types by names and patterns, in addition to its filter policy.
 */
import { EVENT_TYPE_NAME_CHARS_MAX } from '../limits.ts'
import type { MessageAttribute } from '../records.ts'

export const EVENT_TYPE_ATTRIBUTE = 'eventType'
/** The number of the schema that the publisher means. Absent: the newest. */
export const EVENT_TYPE_VERSION_ATTRIBUTE = 'eventTypeVersion'
/** Members of a publish that become attributes of the same names. */
export const EVENT_TYPE_ATTRIBUTES = [EVENT_TYPE_ATTRIBUTE, EVENT_TYPE_VERSION_ATTRIBUTE] as const
/** Number of a version that a publisher names. Past it: `validation_failed`. */
export const EVENT_TYPE_VERSION_MAX = 999_999_999
export const GIVEN_TWICE = 'is given as an attribute, too'

const NAME = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const VERSION = /^[1-9]\d{0,8}$/
const ALL = '*'
const BELOW = '.*'
const SEGMENTS = 'must be segments of A-Z a-z 0-9 _ - joined by dots, like order.paid'

export function eventTypeProblem(name: string): string | undefined {
  if (name.length > EVENT_TYPE_NAME_CHARS_MAX)
    return `must have at most ${EVENT_TYPE_NAME_CHARS_MAX} characters`
  return NAME.test(name) ? undefined : SEGMENTS
}

/** A name, `order.*` for every type below `order.`, or `*` for every message that has a type. */
export function eventTypePatternProblem(pattern: string): string | undefined {
  if (pattern === ALL) return undefined
  const name = pattern.endsWith(BELOW) ? pattern.slice(0, -BELOW.length) : pattern
  return eventTypeProblem(name) === undefined ? undefined : `${SEGMENTS}, or end in .* or be *`
}

/** The conditions of a filter clause that the types of a subscription make. */
export function eventTypeConditions(patterns: readonly string[]): unknown[] {
  return patterns.map((pattern) => {
    if (pattern === ALL) return { exists: true }
    return pattern.endsWith(BELOW) ? { prefix: pattern.slice(0, -1) } : pattern
  })
}

/** Whether a subscription with these patterns gets messages of this type, as far as the type decides. */
export function choosesType(patterns: readonly string[] | null | undefined, name: string): boolean {
  if (!patterns) return true
  return patterns.some((pattern) => {
    if (pattern === ALL || pattern === name) return true
    return pattern.endsWith(BELOW) && name.startsWith(pattern.slice(0, -1))
  })
}

/** The event type of a message with these attributes. */
export function eventTypeOf(attributes: Record<string, MessageAttribute> | undefined): string | undefined {
  const attribute = attributes?.[EVENT_TYPE_ATTRIBUTE]
  return attribute?.type === 'String' ? attribute.value : undefined
}

/** The schema's number that a message names. null: the attribute is no such number. Undefined: it names none. */
export function eventTypeVersionOf(
  attributes: Record<string, MessageAttribute> | undefined,
): number | null | undefined {
  const attribute = attributes?.[EVENT_TYPE_VERSION_ATTRIBUTE]
  if (attribute === undefined) return undefined
  return VERSION.test(attribute.value) && !attribute.type.startsWith('Binary')
    ? Number(attribute.value)
    : null
}
