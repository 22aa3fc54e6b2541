/** The fields of a message as a list, from the JSON Schema of its event type. */

/** Rows of the list. Past it: the rest is left out; the schema itself has it. */
const FIELDS_MAX = 100
/** Depth of the fields that are listed. Past it: deeper ones are left out. */
const FIELD_DEPTH_MAX = 8

interface SchemaField {
  /** `order.lines[].price`. */
  path: string
  /** `string`, `number or null`, `object`. '' if the schema does not say. */
  type: string
  isRequired: boolean
  description: string
}

type Schema = Record<string, unknown>

export function fieldsOfSchema(schema: Schema): SchemaField[] {
  const fields: SchemaField[] = []
  addFields({ root: schema, schema, path: '', depth: 0 }, fields)
  return fields.slice(0, FIELDS_MAX)
}

interface Place {
  root: Schema
  schema: Schema
  path: string
  depth: number
}

function addFields({ root, schema: given, path, depth }: Place, fields: SchemaField[]): void {
  if (depth > FIELD_DEPTH_MAX || fields.length >= FIELDS_MAX) return
  const schema = followed(root, given)
  const items = asSchema(schema.items)
  if (items) addFields({ root, schema: items, path: `${path}[]`, depth: depth + 1 }, fields)
  const required = Array.isArray(schema.required) ? schema.required : []
  for (const [name, value] of Object.entries(asSchema(schema.properties) ?? {})) {
    const own = asSchema(value) ?? {}
    const member = { ...followed(root, own), ...own }
    const place = path === '' ? name : `${path}.${name}`
    const description = typeof member.description === 'string' ? member.description : ''
    fields.push({ path: place, type: typeOf(member), isRequired: required.includes(name), description })
    addFields({ root, schema: member, path: place, depth: depth + 1 }, fields)
  }
}

/** Follows a reference within the schema, once. Others have no fields. */
function followed(root: Schema, schema: Schema): Schema {
  const { $ref } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return schema
  const keys = $ref.split('/').slice(1).map(unescaped)
  const target = keys.reduce<unknown>((at, key) => asSchema(at)?.[key], root)
  return asSchema(target) ?? schema
}

const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')

function typeOf({ type, enum: values, const: only }: Schema): string {
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(type)) return type.join(' | ')
  return typeof type === 'string' ? type : ''
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined
}
