/**
 * What filters see of a message: the values under a dotted path. Attributes and body are parsed once for all filters, and a
 * path is looked up when the first of them asks; what no filter names costs nothing, however long the message is.
 */
import { type FilterPolicyScope, jsonOf, type MessageAttribute } from '@fantail/contracts'
import { type BodyValue, bodyLeaves, type Leaf, type Place } from './body-leaves.ts'

export type { Leaf, Place }

export interface FilterSubject {
  scope: FilterPolicyScope
  /** Attributes, or keys at the top of the body. */
  names: readonly string[]
  /** Empty where the message has nothing to match there. */
  leavesAt(path: string): readonly Leaf[]
  /** Attributes that cannot be read. */
  invalid: ReadonlySet<string>
  /** `body`: not a JSON object. `attributes`: there are none. */
  lacks: 'body' | 'attributes' | undefined
}

export interface FilterMessage {
  /** The text that the subscriber's protocol is told. */
  message: string
  attributes?: Record<string, MessageAttribute> | undefined
}

const NO_NAMES: ReadonlySet<string> = new Set()
const NO_LEAVES: readonly Leaf[] = []
/** What SNS documents, not what JavaScript takes: hexadecimal numbers are texts. */
const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/

export function filterSubject(message: FilterMessage, scope: FilterPolicyScope): FilterSubject {
  return scope === 'MessageBody' ? ofBody(message.message) : ofAttributes(message.attributes ?? {})
}

function ofAttributes(attributes: Record<string, MessageAttribute>): FilterSubject {
  const names = Object.keys(attributes)
  const leaves = new Map<string, readonly Leaf[]>()
  let invalid: Set<string> | undefined
  for (const name of names) {
    const values = leavesOf(attributes[name] as MessageAttribute)
    if (values) leaves.set(name, values)
    else invalid = (invalid ?? new Set<string>()).add(name)
  }
  return {
    scope: 'MessageAttributes',
    names,
    leavesAt: (path) => leaves.get(path) ?? NO_LEAVES,
    invalid: invalid ?? NO_NAMES,
    lacks: names.length === 0 ? 'attributes' : undefined,
  }
}

/** undefined: cannot be read; empty: nothing to match (Binary, an empty array). */
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
  const leaves: Leaf[] = []
  for (const value of parsed as BodyValue[]) {
    if (typeof value === 'object' && value !== null) return undefined
    leaves.push({ value })
  }
  return leaves
}

function ofBody(text: string): FilterSubject {
  const body = jsonOf(text) as BodyValue | undefined
  const known = new Map<string, readonly Leaf[]>()
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const leavesAt = () => NO_LEAVES
    return { scope: 'MessageBody', names: [], leavesAt, invalid: NO_NAMES, lacks: 'body' }
  }
  const leavesAt = (path: string) => {
    const found = known.get(path) ?? bodyLeaves(body, path)
    known.set(path, found)
    return found
  }
  return { scope: 'MessageBody', names: Object.keys(body), leavesAt, invalid: NO_NAMES, lacks: undefined }
}
