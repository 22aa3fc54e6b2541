/** Zod schemas as JSON Schema. Named ones become components. Schemas of parameters and headers are written inline. */
import { namedSchemas, requestSchemaNames, shownShape } from '@fantail/contracts/schemas/shared-schemas'
import { z } from 'zod'

export type Json = Record<string, unknown>

type Io = 'input' | 'output'
type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']

const COMPONENTS = '#/components/schemas/'

export function componentSchemas(): Json {
  const requests = schemasOf('input')
  const answers = schemasOf('output')
  const entries = Object.entries(answers).map(([id, answer]) => {
    const schema = requestSchemaNames.has(id) ? requests[id] : answer
    return [id, withoutMeta(schema as Json)] as const
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function schemasOf(io: Io): Record<string, object> {
  const options = { io, uri: (id: string) => COMPONENTS + id, unrepresentable: 'any', override } as const
  return z.toJSONSchema(namedSchemas, options).schemas
}

export function referenceTo(schema: z.ZodType): Json {
  const name = namedSchemas.get(schema)?.id
  if (name === undefined)
    throw new Error('a schema of a body or an answer has no name: `named`, `namedInput`')
  return { $ref: COMPONENTS + name }
}

/** The schema of a parameter or header, with its description separate. */
export function described(schema: z.ZodType): { description?: string; required: boolean; schema: Json } {
  const { description, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override })
  return {
    ...(description !== undefined && { description }),
    required: !schema.safeParse(undefined).success,
    schema: withoutMeta(rest),
  }
}

/** The members of an object's schema, each as `described` returns it. */
export function describedMembers(schema: z.ZodType): Record<string, ReturnType<typeof described>> {
  if (!(schema instanceof z.ZodObject)) return {}
  const members = Object.entries(schema.shape as Record<string, z.ZodType>)
  return Object.fromEntries(members.map(([name, member]) => [name, described(member)]))
}

/** The examples of a schema, or of the alternatives of a union. */
export function examplesOf(schema: z.ZodType): unknown[] {
  const own = schema.meta()?.examples
  if (Array.isArray(own)) return own
  return schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]).flatMap(examplesOf) : []
}

/**
 * Answers may get new members, so only objects that refuse unknown ones say so. Bounds of every safe integer are left
 * out. Shapes that are only shown have names, because generators of clients make a type of each name.
 */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const shape = shownShape(zodSchema)
  if (shape) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
    Object.assign(jsonSchema, referenceTo(shape))
    return
  }
  const { def } = zodSchema._zod
  if (def.type === 'object' && !('catchall' in def && def.catchall)) delete jsonSchema.additionalProperties
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  const format = formatOf(jsonSchema)
  if (format) jsonSchema.format = format
}

const INT32_MAX = 2 ** 31 - 1

/** Without a format, generated clients have numbers of 32 bits. */
function formatOf({ type, maximum = Number.POSITIVE_INFINITY }: Json): string | undefined {
  if (type === 'number') return 'double'
  return type === 'integer' && (maximum as number) > INT32_MAX ? 'int64' : undefined
}

function withoutMeta({ $schema: _schema, $id: _id, ...schema }: Json): Json {
  return schema
}
