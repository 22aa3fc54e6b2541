/** The parts of a JSON Schema that are schemas themselves. */
import { isObject } from '@fantail/contracts'

type Json = Record<string, unknown>

const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
/** Keywords whose values are data. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired', 'type'])

/** A copy in which `change` has replaced each direct part that is a schema. */
export function withParts(schema: Json, change: (part: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changed(keyword, value, change)]),
  )
}

function changed(keyword: string, value: unknown, change: (part: unknown) => unknown): unknown {
  if (DATA.has(keyword)) return value
  if (LISTS.has(keyword)) return Array.isArray(value) ? value.map(change) : value
  if (MAPS.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)]))
  return isObject(value) ? change(value) : value
}
