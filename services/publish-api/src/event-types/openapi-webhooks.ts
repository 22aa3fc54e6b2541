/** The catalogue of a topic as an OpenAPI document, with each event type as a webhook. */
import { type EventTypeRecord, isObject, type TopicRecord } from '@fantail/contracts'
import { withParts } from './schema-parts.ts'

type Json = Record<string, unknown>

const COMPONENTS = '#/components/schemas/'

export function catalogueDocument({ name, displayName }: TopicRecord, types: EventTypeRecord[]): Json {
  const withSchema = types.filter(({ versions }) => versions.length > 0)
  return {
    openapi: '3.1.0',
    info: { title: displayName || name, version: versionOf(types) },
    webhooks: Object.fromEntries(types.map((type) => [type.name, webhookOf(type)])),
    components: { schemas: Object.fromEntries(withSchema.map((type) => [type.name, schemaOf(type)])) },
  }
}

/** The day of the latest change. */
function versionOf(types: EventTypeRecord[]): string {
  const latest = Math.max(0, ...types.map(({ modifiedAt }) => modifiedAt))
  return new Date(latest).toISOString().slice(0, 10)
}

function webhookOf({ name, description, deprecated, versions, examples }: EventTypeRecord): Json {
  const media = {
    ...(versions.length > 0 && { schema: { $ref: COMPONENTS + name } }),
    ...(examples.length > 0 && {
      examples: Object.fromEntries(
        examples.map((text, i) => [`example${i + 1}`, { value: JSON.parse(text) }]),
      ),
    }),
  }
  return {
    post: {
      operationId: name,
      ...(description !== null && { description }),
      ...(deprecated && { deprecated }),
      requestBody: { required: true, content: { 'application/json': media } },
      responses: { '2XX': { description: 'Every status of 2xx accepts the message.' } },
    },
  }
}

/** The newest schema. Its references begin with its own place in the document. */
function schemaOf({ name, versions }: EventTypeRecord): unknown {
  return moved(JSON.parse(versions.at(-1)?.schema ?? '{}'), COMPONENTS + name)
}

function moved(value: unknown, to: string): unknown {
  if (!isObject(value)) return value
  const { $schema: _, $ref, ...schema } = value
  const parts = withParts(schema, (part) => moved(part, to))
  return typeof $ref === 'string' ? { $ref: to + $ref.slice(1), ...parts } : parts
}
