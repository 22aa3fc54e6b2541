/**
 * Writes types for TypeScript from the catalogue of a topic. A schema may ask for more than a type can say, such as
 * patterns and bounds of numbers, so the types accept every message that the schemas accept.
 */
type Schema = Record<string, unknown>

interface CatalogueType {
  name: string
  description: string | null
  deprecated: boolean
  schema: Schema | null
}

export function catalogueTypes(topic: string, types: readonly CatalogueType[]): string {
  const names = new Names()
  const named = types.map((type) => ({ ...type, typeName: names.of(type.name) }))
  const declared = named.flatMap((type) =>
    new SchemaTypes(type.typeName, type.schema ?? {}, names).declare(type),
  )
  const map = named.map(({ name, typeName }) => `  ${JSON.stringify(name)}: ${typeName}`)
  return [
    `// The event types of the topic ${oneLine(topic)}, written by \`fantail event-types typescript\`.`,
    ...declared,
    `/** The messages of the topic by event type. */\nexport interface EventTypes {\n${map.join('\n')}\n}`,
  ].join('\n\n')
}

/** Gives each thing a name of its own. */
class Names {
  readonly #taken = new Set(['EventTypes'])

  /** `order.paid` becomes `OrderPaid`. */
  of(text: string): string {
    const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
    const joined = words.map((word) => (word[0] ?? '').toUpperCase() + word.slice(1)).join('')
    const base = /^[A-Za-z]/.test(joined) ? joined : `Type${joined}`
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}${n}`
      if (this.#taken.has(name)) continue
      this.#taken.add(name)
      return name
    }
  }
}

/** The types of one schema: its own, and one for each place that a reference leads to. */
class SchemaTypes {
  readonly #root: Schema
  readonly #names: Names
  /** Reference → name. */
  readonly #known: Map<string, string>
  readonly #waiting: string[] = []

  constructor(name: string, root: Schema, names: Names) {
    this.#root = root
    this.#names = names
    this.#known = new Map([['#', name]])
  }

  declare({ description, deprecated }: Pick<CatalogueType, 'description' | 'deprecated'>): string[] {
    const note = [description ?? '', deprecated ? '@deprecated' : ''].filter((text) => text !== '').join('\n')
    const declared = [this.#declaration('#', this.#root, note)]
    for (let at = 0; at < this.#waiting.length; at++) {
      const reference = this.#waiting[at] ?? ''
      declared.push(this.#declaration(reference, this.#target(reference), ''))
    }
    return declared
  }

  #declaration(reference: string, schema: unknown, note: string): string {
    const text = note === '' ? commentOf(schema, '') : comment(note, '')
    return `${text}export type ${this.#known.get(reference)} = ${this.#type(schema, '')}`
  }

  #target(reference: string): unknown {
    const names = reference.split('/').slice(1).map(unescaped)
    let found: unknown = this.#root
    for (const name of names) found = (found as Schema | undefined)?.[name]
    return found
  }

  #reference(reference: string): string {
    const known = this.#known.get(reference)
    if (known !== undefined) return known
    const last = unescaped(reference.slice(reference.lastIndexOf('/') + 1))
    const name = this.#names.of(`${this.#known.get('#')} ${last}`)
    this.#known.set(reference, name)
    this.#waiting.push(reference)
    return name
  }

  /** `indent`: of the line on which the type begins. */
  #type(schema: unknown, indent: string): string {
    if (schema === false) return 'never'
    if (!isSchema(schema)) return 'unknown'
    if ('const' in schema) return literal(schema.const)
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal))
    const parts = [
      ...(typeof schema.$ref === 'string' ? [this.#reference(schema.$ref)] : []),
      ...listOf(schema.allOf).map((part) => this.#type(part, indent)),
      ...[schema.anyOf, schema.oneOf].filter(Array.isArray).map((some) => union(this.#types(some, indent))),
      this.#own(schema, indent),
    ]
    const known = [...new Set(parts)].filter((part) => part !== 'unknown')
    if (known.length <= 1) return known[0] ?? 'unknown'
    return known.map((part) => (part.includes(' | ') ? `(${part})` : part)).join(' & ')
  }

  #types(schemas: readonly unknown[], indent: string): string[] {
    return schemas.map((schema) => this.#type(schema, indent))
  }

  /** By `type`, and by the keywords that only one type has. */
  #own(schema: Schema, indent: string): string {
    const { type } = schema
    if (Array.isArray(type)) return union(type.map((one) => this.#ofType(one, schema, indent)))
    if (type !== undefined) return this.#ofType(type, schema, indent)
    const isObject = ['properties', 'required', 'additionalProperties'].some((keyword) => keyword in schema)
    if (isObject) return this.#object(schema, indent)
    return 'items' in schema || 'prefixItems' in schema ? this.#array(schema, indent) : 'unknown'
  }

  #ofType(type: unknown, schema: Schema, indent: string): string {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type
      case 'integer':
        return 'number'
      case 'array':
        return this.#array(schema, indent)
      case 'object':
        return this.#object(schema, indent)
      default:
        return 'unknown'
    }
  }

  #array({ items, prefixItems }: Schema, indent: string): string {
    const first = this.#types(listOf(prefixItems), indent)
    const rest = this.#type(items, indent)
    if (first.length === 0) return /^\w+$/.test(rest) ? `${rest}[]` : `Array<${rest}>`
    const optional = first.map((one) => `${/^\w+$/.test(one) ? one : `(${one})`}?`)
    return `[${[...optional, ...(items === false ? [] : [`...Array<${rest}>`])].join(', ')}]`
  }

  #object({ properties, required, additionalProperties }: Schema, indent: string): string {
    const members = isSchema(properties) ? properties : {}
    const needed = listOf(required).map(String)
    const inner = `${indent}  `
    const lines = Object.entries(members).map(([name, schema]) => {
      const mark = needed.includes(name) ? '' : '?'
      return `${commentOf(schema, inner)}${inner}${keyOf(name)}${mark}: ${this.#type(schema, inner)}`
    })
    const others = needed.filter((name) => !Object.hasOwn(members, name))
    lines.push(...others.map((name) => `${inner}${keyOf(name)}: unknown`))
    if (lines.length === 0) {
      const value = isSchema(additionalProperties) ? this.#type(additionalProperties, indent) : 'unknown'
      return `Record<string, ${additionalProperties === false ? 'never' : value}>`
    }
    if (isSchema(additionalProperties)) lines.push(`${inner}[name: string]: unknown`)
    return `{\n${lines.join('\n')}\n${indent}}`
  }
}

function union(types: string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.length === 0 ? 'never' : distinct.join(' | ')
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (!isSchema(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, inner]) => `${keyOf(name)}: ${literal(inner)}`)
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('; ')} }`
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

function commentOf(schema: unknown, indent: string): string {
  if (!isSchema(schema)) return ''
  const { description, title, deprecated } = schema
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : ''
  return comment(
    [text, deprecated === true ? '@deprecated' : ''].filter((line) => line !== '').join('\n'),
    indent,
  )
}

function comment(text: string, indent: string): string {
  if (text === '') return ''
  const lines = text.replaceAll('*/', '*\\/').split(/\r\n|[\n\r\u2028\u2029]/)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function oneLine(text: string): string {
  return text.replaceAll(/[\n\r\u2028\u2029]/g, ' ')
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unescaped(name: string): string {
  return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
}
