/**
 * Reads a stranger's JSON Schema before it is compiled. Only known keywords pass, annotations are left out, and
 * references lead to places of the same schema. Each part gets the number of steps that its check costs, which the
 * compiled check counts (check-schema.ts).
 *
 * This file runs in a thread (schema-thread.ts), so it uses no package of Fantail.
 */
import { SchemaProblem } from './schema-problem.ts'

type Json = Record<string, unknown>

/** Own keywords of the compiled form. The second one adds the size of the value that is checked. */
export const STEPS = 'x-fantail-steps'
export const SIZED_STEPS = 'x-fantail-sized-steps'

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
/** Patterns of a schema. Past it: the schema is refused. */
const PATTERNS_MAX = 100
/** Pattern of a schema. Past it: the schema is refused. */
const PATTERN_CHARS_MAX = 500
/** Schemas in one list, such as `anyOf`. Past it: the schema is refused, because its check nests as deep. */
const LIST_SCHEMAS_MAX = 100
/** Schemas by name in one object, such as `properties`. Past it: the schema is refused, for the same reason. */
const NAMED_SCHEMAS_MAX = 500
/** A step stands for so many characters of a schema's own values, such as the texts of an `enum`. */
const OWN_CHARS_PER_STEP = 16

type Kind = 'schema' | 'schemas' | 'map' | 'value' | 'note'

const kinds = (kind: Kind, words: string): [string, Kind][] => words.split(' ').map((word) => [word, kind])
const KEYWORDS = new Map<string, Kind>([
  ...kinds('schema', 'not if then else items contains additionalProperties propertyNames'),
  ...kinds('schema', 'unevaluatedItems unevaluatedProperties'),
  ...kinds('schemas', 'allOf anyOf oneOf prefixItems'),
  ...kinds('map', 'properties patternProperties dependentSchemas'),
  ...kinds('value', 'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum'),
  ...kinds('value', 'maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains'),
  ...kinds('value', 'maxProperties minProperties required dependentRequired'),
  ...kinds('note', 'title description default examples deprecated readOnly writeOnly format $comment'),
  ...kinds('note', 'contentEncoding contentMediaType contentSchema'),
])
/** Their checks look at each character of a text, or each member of an object. */
const SIZED = new Set(
  'maxLength minLength maxProperties minProperties additionalProperties patternProperties propertyNames'.split(
    ' ',
  ),
)
const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties']
const HINTS = new Map([
  ['definitions', '; draft 2020-12 has $defs'],
  ['nullable', '; draft 2020-12 has "null" among the types'],
  ['$id', '; references stay in the schema'],
])

interface ReadSchema {
  /** For the compiler. */
  schema: Json
  /** It uses keywords that need to know which members and items others have checked. */
  isUnevaluated: boolean
}

/** Throws a SchemaProblem. */
export function readSchema(given: unknown, depthMax: number): ReadSchema {
  const reader = new SchemaReader(depthMax)
  const schema = reader.root(given)
  return { schema, isUnevaluated: reader.isUnevaluated }
}

class SchemaReader {
  isUnevaluated = false
  readonly #depthMax: number
  /** The parts that are schemas, by their JSON pointers. */
  readonly #parts = new Map<string, Json | boolean>()
  /** Pointers that references name → names in the compiled form. */
  readonly #targets = new Map<string, string>()
  #patterns = 0

  constructor(depthMax: number) {
    this.#depthMax = depthMax
  }

  root(given: unknown): Json {
    if (!isObject(given)) throw new SchemaProblem('schema', 'must be an object')
    const { $schema, ...rest } = given
    if ($schema !== undefined && $schema !== DRAFT && $schema !== `${DRAFT}#`)
      throw new SchemaProblem('schema.$schema', `must be ${DRAFT}`)
    const read = this.#schema(rest, [], 1) as Json
    const $defs = [...this.#targets].map(([pointer, name]) => [name, this.#target(pointer)])
    return { ...read, ...($defs.length > 0 && { $defs: Object.fromEntries($defs) }) }
  }

  #target(pointer: string): Json | boolean {
    const found = this.#parts.get(pointer)
    if (found !== undefined) return found
    throw new SchemaProblem('schema', `has a $ref to #${pointer}, where it has no schema`)
  }

  #schema(given: unknown, path: string[], depth: number): Json | boolean {
    const part = this.#read(given, path, depth)
    this.#parts.set(pointerOf(path), part)
    return part
  }

  #read(given: unknown, path: string[], depth: number): Json | boolean {
    if (typeof given === 'boolean') return given
    if (!isObject(given)) throw new SchemaProblem(placeOf(path), 'must be a schema: an object, true or false')
    if (depth > this.#depthMax)
      throw new SchemaProblem(placeOf(path), `is nested more than ${this.#depthMax} schemas deep`)
    const read: Json = {}
    let own = 0
    for (const [keyword, value] of Object.entries(given)) {
      const inner = [...path, keyword]
      if (keyword === '$ref') read.$ref = this.#reference(value, inner)
      else if (keyword === '$defs') this.#map(value, inner, depth)
      else own += this.#keyword(read, keyword, value, { path: inner, depth })
    }
    const isSized = Object.keys(read).some((keyword) => SIZED.has(keyword))
    if (UNEVALUATED.some((keyword) => keyword in read)) this.isUnevaluated = true
    read[isSized ? SIZED_STEPS : STEPS] = 1 + Math.ceil(own / OWN_CHARS_PER_STEP)
    return read
  }

  /** Adds the keyword. Returns the characters of its own values. */
  #keyword(read: Json, keyword: string, value: unknown, at: { path: string[]; depth: number }): number {
    const { path, depth } = at
    switch (keyword.startsWith('x-') ? 'note' : KEYWORDS.get(keyword)) {
      case 'note':
        return 0
      case 'schema':
        read[keyword] = this.#schema(value, path, depth + 1)
        return 0
      case 'schemas':
        if (!Array.isArray(value)) throw new SchemaProblem(placeOf(path), 'must be a list of schemas')
        if (value.length > LIST_SCHEMAS_MAX)
          throw new SchemaProblem(placeOf(path), `must have at most ${LIST_SCHEMAS_MAX} schemas`)
        read[keyword] = value.map((item, i) => this.#schema(item, [...path, String(i)], depth + 1))
        return value.length
      case 'map':
        read[keyword] = this.#map(value, path, depth)
        if (keyword === 'patternProperties')
          for (const name of Object.keys(value as Json)) this.#pattern(name, path)
        return Object.keys(value as Json).join().length
      case 'value':
        if (keyword === 'pattern') this.#pattern(value, path)
        read[keyword] = value
        return JSON.stringify(value).length
      default:
        throw new SchemaProblem(placeOf(path), `is not a keyword that is known${HINTS.get(keyword) ?? ''}`)
    }
  }

  #map(value: unknown, path: string[], depth: number): Json {
    if (!isObject(value)) throw new SchemaProblem(placeOf(path), 'must be an object of schemas')
    if (Object.keys(value).length > NAMED_SCHEMAS_MAX)
      throw new SchemaProblem(placeOf(path), `must have at most ${NAMED_SCHEMAS_MAX} schemas`)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.#schema(inner, [...path, name], depth + 1)]),
    )
  }

  #reference(value: unknown, path: string[]): string {
    if (typeof value !== 'string' || !/^#(\/|$)/.test(value))
      throw new SchemaProblem(placeOf(path), 'must begin with #/, because references stay in the schema')
    const pointer = decoded(value.slice(1), path)
    if (pointer === '') return '#'
    const name = this.#targets.get(pointer) ?? `t${this.#targets.size}`
    this.#targets.set(pointer, name)
    return `#/$defs/${name}`
  }

  #pattern(pattern: unknown, path: string[]): void {
    if (typeof pattern !== 'string') throw new SchemaProblem(placeOf(path), 'must be a pattern')
    if (pattern.length > PATTERN_CHARS_MAX)
      throw new SchemaProblem(placeOf(path), `has a pattern of more than ${PATTERN_CHARS_MAX} characters`)
    if (++this.#patterns > PATTERNS_MAX)
      throw new SchemaProblem('schema', `must have at most ${PATTERNS_MAX} patterns`)
  }
}

function decoded(pointer: string, path: string[]): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    throw new SchemaProblem(placeOf(path), 'is not a JSON pointer')
  }
}

function pointerOf(path: string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function placeOf(path: string[]): string {
  return ['schema', ...path].join('.')
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
