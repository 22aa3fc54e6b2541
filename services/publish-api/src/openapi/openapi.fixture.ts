/** Reads an OpenAPI document: its operations, and everything in it that needs a description. */
export type Json = Record<string, unknown>

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters?: { name: string; description?: string }[]
}

interface DescribedText {
  /** The position in the document, for the message of a failed test. */
  place: string
  name: string
  text: string | undefined
}

export function operationsOf({ paths, webhooks }: Json): Operation[] {
  const items = [...Object.values(paths as Json), ...Object.values(webhooks as Json)] as Record<
    string,
    Operation
  >[]
  return items.flatMap((item) => Object.values(item))
}

export function describedTexts(document: Json): DescribedText[] {
  const { schemas, headers } = document.components as {
    schemas: Record<string, Json>
    headers: Record<string, Json>
  }
  return [
    ...operationsOf(document).flatMap(textsOfOperation),
    ...Object.entries(schemas).flatMap(([name, schema]) => membersOf(name, schema)),
    ...Object.entries(headers).map(([name, { description }]) => text(name, name, description)),
  ]
}

function textsOfOperation({
  operationId,
  summary,
  description,
  parameters = [],
}: Operation): DescribedText[] {
  return [
    text(operationId, `${operationId} ${summary}`, description),
    ...parameters.map((one) => text(`${operationId} ${one.name}`, one.name, one.description)),
  ]
}

/** Members of a schema, of its alternatives, items and values. Referenced schemas are not entered. */
function membersOf(place: string, schema: Json): DescribedText[] {
  const inner = [schema.items, schema.additionalProperties, ...((schema.anyOf as unknown[]) ?? [])]
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>)
  return [
    ...inner.filter(isSchema).flatMap((one) => membersOf(place, one)),
    ...properties.flatMap(([name, member]) => [
      ...(isReferenceAlone(member) ? [] : [text(`${place}.${name}`, name, member.description)]),
      ...membersOf(`${place}.${name}`, member),
    ]),
  ]
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

/** The referenced component has the description. */
function isReferenceAlone(member: Json): boolean {
  return Object.keys(member).length === 1 && '$ref' in member
}

function text(place: string, name: string, given: unknown): DescribedText {
  return { place, name, text: typeof given === 'string' ? given : undefined }
}

const FILLERS = new Set(['a', 'an', 'the', 'of', 'its', 'this', 'in', 'is', 'to', 'for', 'and', 'or'])

/** Whether a text has at least four words, two of which are neither in the name nor fillers. */
export function says(name: string, given: string | undefined): boolean {
  const words = wordsOf(given ?? '')
  const known = new Set(wordsOf(name.replace(/([a-z])([A-Z])/g, '$1 $2')))
  const others = words.filter((word) => !known.has(word) && !FILLERS.has(word))
  return words.length >= 4 && others.length >= 2
}

function wordsOf(sentence: string): string[] {
  return sentence.toLowerCase().match(/[a-z0-9]+/g) ?? []
}
