/**
 * Decodes AWS Query input: parameters named by path (`Tags.member.1.Key`) become an operation's input.
 *
 * The names form a tree of Maps, so no name can be special. Only members that the operation's shapes name are read from
 * the tree. The numbers in names only order a list, so gaps are allowed.
 */
import type { AwsInput } from './operation.ts'
import { malformed, type QueryParameters } from './query-parameters.ts'
import { fromBase64, type ListShape, type MapShape, type Shape } from './shapes.ts'

/**
 * The deepest name of both services has nine parts.
 * @limit Parts of a parameter's name in the Query protocol. Past it: the request is refused as malformed.
 */
const QUERY_DEPTH_MAX = 16
const INDEX = /^[1-9]\d{0,5}$/
const INTEGER = /^[+-]?\d{1,10}$/

interface Node {
  value?: string
  children?: Map<string, Node>
}

export function decodeQuery(parameters: QueryParameters, shapes: Record<string, Shape>): AwsInput {
  return members(treeOf(parameters, shapes), shapes, '')
}

/** Builds the tree of the parameters whose first part is one of the shapes. Other parameters are not checked at all. */
function treeOf(parameters: QueryParameters, shapes: Record<string, Shape>): Node {
  const known = namesOf(shapes)
  const root: Node = { children: new Map() }
  for (const [path, value] of parameters) {
    const dot = path.indexOf('.')
    if (!known.has(dot < 0 ? path : path.slice(0, dot))) continue
    if (dot < 0) {
      const child = root.children?.get(path)
      if (child) child.value = value
      else root.children?.set(path, { value })
      continue
    }
    const parts = path.split('.', QUERY_DEPTH_MAX + 1)
    if (parts.length > QUERY_DEPTH_MAX)
      throw malformed(`Parameter names may have at most ${QUERY_DEPTH_MAX} parts.`)
    nodeAt(root, parts).value = value
  }
  return root
}

const names = new WeakMap<Record<string, Shape>, Set<string>>()

/** Names in the operation's shapes. Cached without a limit, because the set of operations is fixed and small. */
function namesOf(shapes: Record<string, Shape>): Set<string> {
  let known = names.get(shapes)
  if (!known) {
    known = new Set(Object.entries(shapes).map(([name, shape]) => wireName(name, shape)))
    names.set(shapes, known)
  }
  return known
}

function nodeAt(root: Node, parts: string[]): Node {
  let node = root
  for (const part of parts) {
    node.children ??= new Map()
    let child = node.children.get(part)
    if (!child) {
      child = {}
      node.children.set(part, child)
    }
    node = child
  }
  return node
}

function wireName(name: string, shape: Shape): string {
  return typeof shape === 'object' && 'flat' in shape ? (shape.flat ?? name) : name
}

/** The members of a structure that the request gives. */
function members(node: Node, shapes: Record<string, Shape>, path: string): AwsInput {
  const result: AwsInput = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const wire = wireName(name, shape)
    const child = node.children?.get(wire)
    if (child) result[name] = decoded(child, shape, path + wire)
  }
  return result
}

function decoded(node: Node, shape: Shape, path: string): unknown {
  if (typeof shape === 'string') return scalar(node, shape, path)
  if ('list' in shape) return list(node, shape, path)
  if ('map' in shape) return map(node, shape, path)
  if (node.value) throw malformed(`Unexpected simple value at ${path}.`)
  return members(node, shape.struct, `${path}.`)
}

type Scalar = Extract<Shape, string>

function scalar({ value, children }: Node, shape: Scalar, path: string): unknown {
  if (children || value === undefined) {
    throw malformed(`Start of structure or map found where not expected: ${path}.`)
  }
  switch (shape) {
    case 'string':
      return value
    case 'boolean':
      return toBoolean(value, path)
    case 'integer':
      return toInteger(value, path)
    case 'blob':
      return toBytes(value, path)
  }
}

function toBoolean(value: string, path: string): boolean {
  const lower = value.toLowerCase()
  if (lower === 'true' || lower === 'false') return lower === 'true'
  throw malformed(`${path} must be true or false.`)
}

function toInteger(value: string, path: string): number {
  const number = INTEGER.test(value) ? Number(value) : Number.NaN
  // 32 bits, as in the models.
  if (number === (number | 0)) return number | 0
  throw malformed(`${path} must be an integer.`)
}

function toBytes(value: string, path: string): Buffer {
  const bytes = fromBase64(value)
  if (bytes) return bytes
  throw malformed(`${path} must be Base64.`)
}

function list(node: Node, { list: item, flat }: ListShape, path: string): unknown[] {
  const items = itemsOf(node, flat === undefined ? 'member' : undefined, path)
  if (items) return items.map(({ node: child, path: name }) => decoded(child, item, name))
  // A flattened list of one item may come without an index: `AttributeName=All`.
  if (flat !== undefined && typeof item === 'string' && node.value) return [scalar(node, item, path)]
  return []
}

function map(node: Node, shape: MapShape, path: string): Record<string, unknown> {
  const { key: keyName, value: valueName } = shape.entry ?? { key: 'key', value: 'value' }
  const result: Record<string, unknown> = Object.create(null)
  const entries = itemsOf(node, shape.flat === undefined ? 'entry' : undefined, path) ?? []
  for (const { node: entry, path: name } of entries) {
    const key = entry.children?.get(keyName)?.value
    const value = entry.children?.get(valueName)
    if (key === undefined) throw malformed(`${name}.${keyName} is missing.`)
    if (value === undefined) throw malformed(`${name}.${valueName} is missing.`)
    addTo(result, key, decoded(value, shape.map, `${name}.${valueName}`))
  }
  return result
}

/** `__proto__` is refused: code that copies the map member by member would lose it or change the copy's prototype. */
function addTo(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') throw malformed('The key __proto__ is not allowed.')
  if (key in map) throw malformed('Keys may not be repeated.')
  map[key] = value
}

interface Item {
  node: Node
  path: string
}

/**
 * The numbered children, in the order of their numbers. Undefined if there are none, as in `Tags=`, which means an
 * empty list.
 */
function itemsOf(node: Node, group: string | undefined, path: string): Item[] | undefined {
  const parent = group === undefined ? node : node.children?.get(group)
  if (!parent?.children) {
    if (node.value && group !== undefined) throw malformed(`Unexpected simple value at ${path}.`)
    return undefined
  }
  const prefix = group === undefined ? path : `${path}.${group}`
  return Array.from(parent.children, ([index, child]) => ({ index, node: child, path: `${prefix}.${index}` }))
    .map((item) => {
      if (INDEX.test(item.index)) return item
      throw malformed(`${prefix} must be followed by a number from 1 to 999999.`)
    })
    .sort((a, b) => Number(a.index) - Number(b.index))
}
