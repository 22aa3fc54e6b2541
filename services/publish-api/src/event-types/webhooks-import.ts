/**
 * Reads the webhooks of an OpenAPI document as event types. References lead to places of the document, whose schemas
 * are copied into the type's own `$defs`. Nothing is fetched.
 */
import {
  EVENT_SCHEMA_BYTES_MAX,
  EVENT_TYPE_DESCRIPTION_CHARS_MAX,
  EVENT_TYPE_EXAMPLES_MAX,
  EVENT_TYPES_MAX,
  eventTypeProblem,
  FantailError,
  isObject,
} from '@fantail/contracts'
import type { GivenType } from './event-type-views.ts'
import { withParts } from './schema-parts.ts'

type Json = Record<string, unknown>

interface ImportedType {
  name: string
  given: GivenType
}

const METHODS = ['post', 'put', 'patch', 'get', 'delete', 'options', 'head', 'trace', 'query']
const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json\b/i
/** Schemas that one type brings along. Past it: the import is refused. */
const COPIED_SCHEMAS_MAX = 300
/** References that lead to other references. Past it: the import is refused. */
const REFERENCES_MAX = 20
/** OpenAPI's own notes in a schema. */
const NOTES = new Set(['discriminator', 'xml', 'externalDocs', 'example'])

/** Throws `validation_failed`. */
export function importedTypes(document: Json): ImportedType[] {
  if (!/^3\.1\./.test(String(document.openapi)))
    throw FantailError.invalid('document.openapi', 'must be 3.1, which has webhooks with JSON Schema 2020-12')
  const { webhooks } = document
  if (!isObject(webhooks)) throw FantailError.invalid('document.webhooks', 'must be an object')
  const entries = Object.entries(webhooks)
  if (entries.length > EVENT_TYPES_MAX)
    throw FantailError.invalid('document.webhooks', `must have at most ${EVENT_TYPES_MAX} entries`)
  return entries.map(([name, item]) => importedType(document, name, item))
}

function importedType(document: Json, name: string, item: unknown): ImportedType {
  const place = `document.webhooks.${name}`
  const problem = eventTypeProblem(name)
  if (problem !== undefined) throw FantailError.invalid(place, `has a name that ${problem}`)
  const path = resolved(document, item, place)
  const method = METHODS.find((one) => isObject(path[one]))
  if (method === undefined) throw FantailError.invalid(place, 'must have an operation')
  const operation = path[method] as Json
  const media = mediaOf(document, operation, place)
  const description = textOf(operation.description, operation.summary, path.description, path.summary)
  const schema = media?.schema === undefined ? null : new SchemaCopy(document, place).of(media.schema)
  const examples = media ? examplesOf(document, media, place) : []
  return { name, given: { description, schema, examples, deprecated: operation.deprecated === true } }
}

function mediaOf(document: Json, operation: Json, place: string): Json | undefined {
  if (operation.requestBody === undefined) return undefined
  const { content } = resolved(document, operation.requestBody, place)
  if (!isObject(content)) return undefined
  const type = Object.keys(content).find((name) => JSON_TYPE.test(name))
  return type !== undefined && isObject(content[type]) ? content[type] : undefined
}

function textOf(...texts: unknown[]): string | null {
  const found = texts.find((text): text is string => typeof text === 'string' && text !== '')
  return found?.slice(0, EVENT_TYPE_DESCRIPTION_CHARS_MAX).toWellFormed() ?? null
}

function examplesOf(document: Json, { example, examples }: Json, place: string): unknown[] {
  const given = isObject(examples)
    ? Object.values(examples).map((one) => resolved(document, one, place).value)
    : []
  return [example, ...given].filter((value) => value !== undefined).slice(0, EVENT_TYPE_EXAMPLES_MAX)
}

/** The object, or the one that its `$ref` leads to. */
function resolved(document: Json, given: unknown, place: string): Json {
  let found = given
  for (let steps = 0; steps < REFERENCES_MAX; steps++) {
    if (!isObject(found)) throw FantailError.invalid(place, 'must be an object')
    if (typeof found.$ref !== 'string') return found
    found = targetOf(document, found.$ref, place)
  }
  throw FantailError.invalid(place, 'has references that lead in a circle')
}

function targetOf(document: Json, reference: string, place: string): unknown {
  if (!/^#(\/|$)/.test(reference))
    throw FantailError.invalid(place, `has a $ref to ${reference}, which is not in the document`)
  const names = reference.split('/').slice(1).map(unescaped)
  let found: unknown = document
  for (const name of names) found = isPart(found, name) ? (found as Json)[name] : undefined
  if (found === undefined) throw FantailError.invalid(place, `has a $ref to ${reference}, where nothing is`)
  return found
}

function isPart(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}

function unescaped(name: string): string {
  const text = name.includes('%') ? decoded(name) : name
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Copies a schema with the schemas of the document that it refers to. */
class SchemaCopy {
  readonly #document: Json
  readonly #place: string
  /** The reference that leads to the copied schema itself. */
  #root: string | undefined
  /** Reference → name in `$defs`. */
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()
  #bytes = 0

  constructor(document: Json, place: string) {
    this.#document = document
    this.#place = place
  }

  of(given: unknown): Json {
    const schema = this.#dereferenced(given)
    if (schema === true) return {}
    if (!isObject(schema)) throw FantailError.invalid(this.#place, 'must have a schema that is an object')
    for (const name of Object.keys(isObject(schema.$defs) ? schema.$defs : {})) this.#taken.add(name)
    const copy = this.#schema(schema) as Json
    const $defs = new Map(Object.entries(isObject(copy.$defs) ? copy.$defs : {}))
    // A copy may refer to more schemas, which the loop then reaches, too.
    for (const [reference, name] of this.#names) $defs.set(name, this.#bounded(reference))
    return $defs.size > 0 ? { ...copy, $defs: Object.fromEntries($defs) } : copy
  }

  #dereferenced(given: unknown): unknown {
    let schema = given
    for (let steps = 0; isAlias(schema); steps++) {
      if (steps === REFERENCES_MAX)
        throw FantailError.invalid(this.#place, 'has references that lead in a circle')
      this.#root = schema.$ref
      schema = targetOf(this.#document, schema.$ref, this.#place)
    }
    return schema
  }

  #bounded(reference: string): unknown {
    const copy = this.#schema(targetOf(this.#document, reference, this.#place))
    this.#bytes += JSON.stringify(copy).length
    if (this.#bytes <= EVENT_SCHEMA_BYTES_MAX) return copy
    const text = `has a schema of more than ${EVENT_SCHEMA_BYTES_MAX} bytes, with those that it refers to`
    throw FantailError.invalid(this.#place, text)
  }

  #schema(value: unknown): unknown {
    if (!isObject(value)) return value
    const kept = Object.entries(value).filter(([keyword]) => !NOTES.has(keyword))
    const copy = withParts(Object.fromEntries(kept), (part) => this.#schema(part))
    return typeof copy.$ref === 'string' ? { ...copy, $ref: this.#reference(copy.$ref) } : copy
  }

  #reference(reference: string): string {
    if (this.#root !== undefined) {
      if (reference === this.#root) return '#'
      if (reference.startsWith(`${this.#root}/`)) return `#${reference.slice(this.#root.length)}`
    }
    const known = this.#names.get(reference)
    if (known !== undefined) return `#/$defs/${known}`
    if (this.#names.size >= COPIED_SCHEMAS_MAX)
      throw FantailError.invalid(this.#place, `refers to more than ${COPIED_SCHEMAS_MAX} schemas`)
    const name = this.#newName(reference)
    this.#names.set(reference, name)
    this.#taken.add(name)
    return `#/$defs/${name}`
  }

  /** The last part of the reference, with a number if another schema has that name. */
  #newName(reference: string): string {
    const last =
      reference.slice(reference.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_.-]/g, '_') || 'schema'
    for (let n = 1; ; n++) {
      const name = n === 1 ? last : `${last}_${n}`
      if (!this.#taken.has(name)) return name
    }
  }
}

function isAlias(schema: unknown): schema is { $ref: string } {
  return isObject(schema) && typeof schema.$ref === 'string' && Object.keys(schema).length === 1
}
