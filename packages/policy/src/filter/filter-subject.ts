/**
 * What filters see of a message, worked out once for all of them: values under dotted paths.
 *
 * A value inside arrays knows its place in each (`places`): where two clauses look at values under one array of objects, both
 * must hold in the same element (sns-semantics §3.7).
 */
import type { FilterPolicyScope, MessageAttribute } from '@fantail/contracts'
import type { Candidate, Scalar } from './conditions.ts'

export interface Leaf extends Candidate {
  /** Array → index; undefined outside of arrays. */
  places: ReadonlyMap<number, number> | undefined
}

export interface FilterSubject {
  scope: FilterPolicyScope
  leaves: ReadonlyMap<string, Leaf[]>
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

const DEPTH_MAX = 200
const NOTHING: ReadonlySet<string> = new Set()

export function filterSubject(message: FilterMessage, scope: FilterPolicyScope): FilterSubject {
  return scope === 'MessageBody' ? ofBody(message.message) : ofAttributes(message.attributes ?? {})
}

function ofAttributes(attributes: Record<string, MessageAttribute>): FilterSubject {
  const leaves = new Map<string, Leaf[]>()
  const invalid = new Set<string>()
  for (const [name, attribute] of Object.entries(attributes)) {
    const values = candidatesOf(attribute)
    if (values === undefined) invalid.add(name)
    else if (values.length > 0) leaves.set(name, values)
  }
  const lacks = Object.keys(attributes).length === 0 ? 'attributes' : undefined
  return { scope: 'MessageAttributes', leaves, invalid, lacks }
}

/** undefined: cannot be read; empty: nothing to match (Binary, an empty array). */
function candidatesOf({ type, value }: MessageAttribute): Leaf[] | undefined {
  if (type === 'String.Array') return elementsOf(value)
  const places = undefined
  if (type.startsWith('Number')) {
    const number = value.trim() === '' ? Number.NaN : Number(value)
    return [Number.isNaN(number) ? { value, places } : { value: number, text: value, places }]
  }
  return type.startsWith('Binary') ? [] : [{ value, places }]
}

function elementsOf(text: string): Leaf[] | undefined {
  const parsed = parse(text)
  if (!Array.isArray(parsed) || parsed.some((element) => typeof element === 'object' && element !== null)) {
    return undefined
  }
  return parsed.map((value: Scalar) => ({ value, places: undefined }))
}

function ofBody(text: string): FilterSubject {
  const body = parse(text)
  const isDocument = typeof body === 'object' && body !== null && !Array.isArray(body)
  const leaves = new Map<string, Leaf[]>()
  if (isDocument) new Flattening(leaves).value(body, '', undefined, 0)
  return { scope: 'MessageBody', leaves, invalid: NOTHING, lacks: isDocument ? undefined : 'body' }
}

class Flattening {
  readonly #leaves: Map<string, Leaf[]>
  #arrays = 0

  constructor(leaves: Map<string, Leaf[]>) {
    this.#leaves = leaves
  }

  value(value: unknown, path: string, places: ReadonlyMap<number, number> | undefined, depth: number): void {
    if (depth > DEPTH_MAX) return
    if (Array.isArray(value)) {
      const array = this.#arrays++
      value.forEach((element, i) => {
        this.value(element, path, new Map(places).set(array, i), depth + 1)
      })
      return
    }
    if (typeof value === 'object' && value !== null) {
      const before = path === '' ? '' : `${path}.`
      for (const [key, member] of Object.entries(value)) this.value(member, before + key, places, depth + 1)
      return
    }
    const leaf = { value: value as Scalar, places }
    const known = this.#leaves.get(path)
    if (known) known.push(leaf)
    else this.#leaves.set(path, [leaf])
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
