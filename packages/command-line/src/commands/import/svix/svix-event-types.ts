/** Event types of Svix as a catalogue of a topic. Each topic gets the same catalogue, because Svix has one for all. */
import {
  EVENT_SCHEMA_BYTES_MAX,
  EVENT_TYPE_DESCRIPTION_CHARS_MAX,
  EVENT_TYPE_EXAMPLES_MAX,
  EVENT_TYPES_MAX,
  eventTypeProblem,
  isObject,
} from '@fantail/contracts'
import type { Findings } from '../plan/findings.ts'
import type { SvixEventType } from './svix-source.ts'

export interface CatalogueType {
  name: string
  settings: {
    description: string | null
    schema: Record<string, unknown> | null
    examples: unknown[]
    deprecated: boolean
  }
}

/** The first problem of a schema with its examples. null: there is none. */
export type SchemaCheck = (given: {
  schema: Record<string, unknown>
  examples: unknown[]
}) => Promise<{ path: string; message: string } | null>

/** `check` asks the server, so that a finding names each schema that it would refuse. */
export async function catalogueOf(
  given: readonly SvixEventType[],
  findings: Findings,
  check: SchemaCheck,
): Promise<CatalogueType[]> {
  const types: CatalogueType[] = []
  for (const type of given) {
    if (!isTaken(type, types.length, findings)) continue
    const { name, description = '', deprecated = false, featureFlag, featureFlags, groupName } = type
    const lose = (text: string) => findings.add({ matter: 'details', what: 'lost', text }, name)
    if (groupName) lose('groups of event types')
    if (featureFlag || featureFlags?.length) lose('feature flags: every customer sees the event type')
    if (description.length > EVENT_TYPE_DESCRIPTION_CHARS_MAX)
      lose(`descriptions past ${EVENT_TYPE_DESCRIPTION_CHARS_MAX} characters`)
    if (Object.keys(type.schemas ?? {}).length > 1) lose('older versions of schemas: the newest comes over')
    const { schema, examples } = await checked(newestSchema(type), check, lose)
    const text = description.slice(0, EVENT_TYPE_DESCRIPTION_CHARS_MAX).toWellFormed()
    types.push({ name, settings: { description: text || null, schema, examples, deprecated } })
  }
  return types
}

function isTaken({ name, archived }: SvixEventType, taken: number, findings: Findings): boolean {
  const problem = eventTypeProblem(name)
  if (problem === undefined && !archived && taken < EVENT_TYPES_MAX) return true
  const text =
    problem === undefined
      ? archived
        ? 'archived event types'
        : `event types past ${EVENT_TYPES_MAX}: they have no entry in the catalogue`
      : `event types whose name ${problem}`
  findings.add({ matter: problem === undefined ? 'details' : 'messages', what: 'lost', text }, name)
  return false
}

function newestSchema({ schemas }: SvixEventType): unknown {
  const versions = Object.keys(schemas ?? {}).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return schemas?.[versions.at(-1) ?? '']
}

async function checked(given: unknown, check: SchemaCheck, lose: (text: string) => void) {
  const none = { schema: null, examples: [] }
  if (!isObject(given)) return none
  const schema = asDraft2020(given) as Record<string, unknown>
  const examples = Array.isArray(given.examples) ? given.examples.slice(0, EVENT_TYPE_EXAMPLES_MAX) : []
  if (Buffer.byteLength(JSON.stringify(schema)) > EVENT_SCHEMA_BYTES_MAX) {
    lose(`schemas of more than ${EVENT_SCHEMA_BYTES_MAX} bytes`)
    return none
  }
  const problem = await check({ schema, examples })
  if (problem === null) return { schema, examples }
  const isOfExample = problem.path.startsWith('examples')
  lose(
    isOfExample
      ? 'examples of event types that do not fit the schema'
      : `schemas, because ${problem.path} ${problem.message}`,
  )
  return isOfExample ? { schema, examples: [] } : none
}

/**
 * The schema as draft 2020-12: earlier drafts and OpenAPI 3.0 have other words for the same. Words that say where a
 * schema is from mean nothing here.
 */
function asDraft2020(given: unknown): unknown {
  if (!isObject(given)) return given
  const kept = Object.entries(given).filter(([keyword]) => !LEFT_OUT.has(keyword))
  const schema = Object.fromEntries(
    kept.map(([keyword, value]) => [keyword === 'definitions' ? '$defs' : keyword, partOf(keyword, value)]),
  )
  if (given.nullable === true && typeof given.type === 'string') schema.type = [given.type, 'null']
  return schema
}

const LEFT_OUT = new Set(['$schema', '$id', 'nullable'])
/** Keywords whose values are data, and those whose values are schemas by name. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required'])
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'definitions', '$defs'])

function partOf(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value
  if (keyword === '$ref') return String(value).replace(/^#\/definitions\//, '#/$defs/')
  if (Array.isArray(value)) return value.map(asDraft2020)
  if (!MAPS.has(keyword) || !isObject(value)) return asDraft2020(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asDraft2020(part)]))
}
