/**
 * A message as filters see it: the values under a dotted path. Attributes and body are parsed once for all filters. A
 * path is looked up when the first filter needs it, so parts that no filter names cost nothing.
 */
import {
  EVENT_TYPE_ATTRIBUTE,
  type FilterPolicyScope,
  jsonOf,
  type MessageAttribute,
} from '@fantail/contracts'
import { PlaceTree } from './array-consistency.ts'
import { type BodyValue, bodyLeaves, distinct, type Leaf, type Place } from './body-leaves.ts'
import type { Scalar } from './conditions/condition.ts'
import { EVENT_TYPE_PATH } from './filtering.ts'
import type { MatchWork, Steps } from './match-work.ts'

export type { Leaf, Place }

export interface FilterSubject {
  scope: FilterPolicyScope
  /** Names of the attributes, or the keys at the top of the body. */
  names: readonly string[]
  /** The first names of all paths that may have values: `names`, and that of the event type. */
  heads: readonly string[]
  /** Empty if the message has no value there. Throws TooMuchWork if the search takes more steps than `work` allows. */
  leavesAt(path: string, work?: MatchWork): readonly Leaf[]
  /** Names of attributes whose values cannot be read. */
  invalid: ReadonlySet<string>
  /** `body`: the body is not a JSON object. `attributes`: the message has none. */
  lacks: 'body' | 'attributes' | undefined
  /** Code units of the texts in the subject. No search takes more steps. */
  size: number
  /** How many values of the body were visited so far. */
  visited: number
  /** The elements of arrays that leaves lie in. */
  places: PlaceTree
}

export interface FilterMessage {
  /** The text that subscribers of the protocol receive. */
  message: string
  attributes?: Record<string, MessageAttribute> | undefined
}

/**
 * Shared by the messages that a process matches in steps; small messages may use half of it. About 6 messages of 256 KB
 * fit. A message always starts if no other message is being matched.
 * @limit memory (worker; API; redrive service) Parsed text of the messages that a process matches in steps. Past it:
 * further messages wait unparsed. At least one is always parsed.
 */
export const PARSED_BYTES_MAX = 268_435_456
/**
 * 47 bytes per byte were measured for a list of nested lists of one number. The rest allows for garbage that is not
 * collected yet.
 */
const PARSED_BYTES_PER_BYTE = 80

/**
 * For a message of 16 KB. It is matched quickly, so it does not wait for larger ones.
 * @limit memory (part of PARSED_BYTES_MAX) Parsed text of a message that counts as small. Past it: the message counts
 * as large. Small and large messages may each use half of PARSED_BYTES_MAX.
 */
export const PARSED_SMALL_BYTES_MAX = 1_310_720

/** The most bytes that the subjects of a message of this size take. */
export function parsedBytes(sizeBytes: number): number {
  return sizeBytes * PARSED_BYTES_PER_BYTE
}

/** For subjects without places: attributes, and bodies that are no JSON object. */
const NO_PLACES = new PlaceTree()
type Attributes = Record<string, MessageAttribute>

const NO_NAMES: ReadonlySet<string> = new Set()
const NO_ATTRIBUTES: Attributes = {}
const NO_LEAVES: readonly Leaf[] = []
/** Numbers as SNS documents them, stricter than JavaScript. A hexadecimal number counts as a text. */
const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/

export function filterSubject(message: FilterMessage, scope: FilterPolicyScope): FilterSubject {
  const { attributes = NO_ATTRIBUTES } = message
  return scope === 'MessageBody' ? ofBody(message.message, attributes) : ofAttributes(attributes)
}

/** Like `leavesAt`, in steps. */
export function* leavesInSteps(subject: FilterSubject, path: string): Steps<readonly Leaf[]> {
  const before = subject.visited
  const leaves = subject.leavesAt(path)
  yield 1 + subject.visited - before
  return leaves
}

function ofAttributes(attributes: Attributes): FilterSubject {
  const names = Object.keys(attributes)
  const leaves = new Map<string, readonly Leaf[]>()
  let invalid: Set<string> | undefined
  let size = 0
  for (const name of names) {
    const attribute = attributes[name] as MessageAttribute
    size += attribute.value.length
    const values = leavesOf(attribute)
    if (values) leaves.set(name, values)
    else invalid = (invalid ?? new Set<string>()).add(name)
  }
  const types = typeLeaves(attributes)
  if (types) leaves.set(EVENT_TYPE_PATH, types)
  return {
    scope: 'MessageAttributes',
    names,
    heads: names,
    leavesAt: (path) => leaves.get(path) ?? NO_LEAVES,
    invalid: invalid ?? NO_NAMES,
    lacks: names.length === 0 ? 'attributes' : undefined,
    size,
    visited: 0,
    places: NO_PLACES,
  }
}

/** The event type, if the message has one. */
function typeLeaves(attributes: Attributes): readonly Leaf[] | undefined {
  const attribute = attributes[EVENT_TYPE_ATTRIBUTE]
  return attribute?.type === 'String' ? [{ value: attribute.value }] : undefined
}

/** undefined: the attribute cannot be read. Empty: it has no value to match (Binary, an empty array). */
function leavesOf({ type, value }: MessageAttribute): readonly Leaf[] | undefined {
  if (type === 'String.Array') return elementsOf(value)
  if (type.startsWith('Number')) {
    return [DECIMAL.test(value) ? { value: Number(value), text: value } : { value }]
  }
  return type.startsWith('Binary') ? NO_LEAVES : [{ value }]
}

function elementsOf(text: string): Leaf[] | undefined {
  const parsed = jsonOf(text) as BodyValue | undefined
  if (!Array.isArray(parsed)) return undefined
  if (!areScalars(parsed)) return undefined
  return Array.from(distinct(parsed), (value) => ({ value }))
}

function areScalars(values: BodyValue[]): values is Scalar[] {
  return values.every((value) => typeof value !== 'object' || value === null)
}

function ofBody(text: string, attributes: Attributes): FilterSubject {
  const body = jsonOf(text) as BodyValue | undefined
  const known = new Map<string, readonly Leaf[]>()
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const leavesAt = () => NO_LEAVES
    return {
      scope: 'MessageBody',
      names: [],
      heads: [],
      leavesAt,
      invalid: NO_NAMES,
      lacks: 'body',
      size: 0,
      visited: 0,
      places: NO_PLACES,
    }
  }
  const types = typeLeaves(attributes)
  known.set(EVENT_TYPE_PATH, types ?? NO_LEAVES)
  const names = Object.keys(body)
  const leavesAt = (path: string, work?: MatchWork) => {
    const found = known.get(path)
    if (found) return found
    const { leaves, visited } = bodyLeaves(body, path)
    known.set(path, leaves)
    subject.visited += visited
    work?.spend(visited)
    return leaves
  }
  const subject: FilterSubject = {
    scope: 'MessageBody',
    names,
    heads: types ? [...names, EVENT_TYPE_ATTRIBUTE] : names,
    leavesAt,
    invalid: NO_NAMES,
    lacks: undefined,
    size: text.length,
    visited: 0,
    places: new PlaceTree(),
  }
  return subject
}
