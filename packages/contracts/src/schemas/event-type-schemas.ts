/** The catalogue of event types of a topic over REST. */
import { z } from 'zod'
import {
  EVENT_SCHEMA_BYTES_MAX,
  EVENT_SCHEMA_DEPTH_MAX,
  EVENT_TYPE_DESCRIPTION_CHARS_MAX,
  EVENT_TYPE_EXAMPLES_MAX,
  EVENT_TYPE_VERSIONS_MAX,
  EVENT_TYPES_MAX,
} from '../limits.ts'
import { givenMap, named, namedInput, timestamp } from './shared-schemas.ts'

const SCHEMA =
  'JSON Schema of draft 2020-12 for the message. `$ref` leads to places in the same schema, and patterns have the ' +
  'syntax of RE2. `format` is not checked.'
const SCHEMA_EXAMPLE = {
  type: 'object',
  properties: { id: { type: 'string' }, total: { type: 'number', minimum: 0 } },
  required: ['id', 'total'],
}

export const EventTypeReference = z
  .string()
  .describe('Name of an event type: segments of `A-Z a-z 0-9 _ -` joined by dots, like `order.paid`.')

const Schema = givenMap(z.string(), z.unknown())

/** `null` resets a member. */
export const EventTypeInput = namedInput(
  'EventTypeInput',
  z
    .strictObject({
      description: z
        .string()
        .min(1)
        .max(EVENT_TYPE_DESCRIPTION_CHARS_MAX)
        .nullish()
        .describe(`For people: at most ${EVENT_TYPE_DESCRIPTION_CHARS_MAX} characters. Default: none.`),
      schema: Schema.nullish().describe(
        `${SCHEMA} At most ${EVENT_SCHEMA_BYTES_MAX} bytes, nested at most ${EVENT_SCHEMA_DEPTH_MAX} deep. A changed ` +
          `schema becomes a new version, and the newest ${EVENT_TYPE_VERSIONS_MAX} stay. null: removes all versions.`,
      ),
      examples: z
        .array(z.unknown())
        .max(EVENT_TYPE_EXAMPLES_MAX)
        .nullish()
        .describe(
          `Messages of this type, at most ${EVENT_TYPE_EXAMPLES_MAX}. Each must fit the newest schema. Default: none.`,
        ),
      deprecated: z
        .boolean()
        .nullish()
        .describe('true: publishers get a warning that the type will go. Default false.'),
    })
    .meta({
      description: 'Members of an event type. Those that are left out stay as they are; null resets one.',
      examples: [{ description: 'An order was paid.', schema: SCHEMA_EXAMPLE }],
    }),
)

export const EventSchemaCheckInput = namedInput(
  'EventSchemaCheck',
  EventTypeInput.pick({ examples: true })
    .extend({ schema: Schema.describe(SCHEMA) })
    .meta({
      description: 'A schema and messages that should fit it.',
      examples: [{ schema: SCHEMA_EXAMPLE, examples: [{ id: 'o-1', total: 12.5 }] }],
    }),
)

export const EventSchemaCheckAnswer = named(
  'EventSchemaCheckResult',
  z
    .object({
      problem: z
        .object({
          path: z.string().describe('Its place in `schema` or `examples`.'),
          message: z
            .string()
            .describe('The reason for which an event type with this schema would be refused.'),
        })
        .nullable()
        .describe('The first problem. null: there is none.'),
    })
    .meta({ description: 'Whether an event type may have the schema.', examples: [{ problem: null }] }),
)

export const EventTypeQuery = z.strictObject({
  version: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Number of the version whose schema is shown. Default: the newest.'),
})

const SUMMARY = {
  name: 'order.paid',
  description: 'An order was paid.',
  deprecated: false,
  version: 2,
  modifiedAt: '2026-11-21T09:30:00.000Z',
}

const summary = {
  name: z.string().describe('Name of the event type.'),
  description: z.string().nullable().describe('Its meaning for people; null: none is given.'),
  deprecated: z.boolean().describe('Whether publishers get a warning that the type will go.'),
  version: z.int().nullable().describe('Number of the newest schema; null: the type has none.'),
  modifiedAt: timestamp('When it was last changed'),
}

export const EventTypeList = named(
  'EventTypeList',
  z
    .object({
      eventTypes: z
        .array(z.object(summary))
        .describe(`All event types of the topic, sorted by name: at most ${EVENT_TYPES_MAX}.`),
    })
    .meta({ description: 'The catalogue of a topic.', examples: [{ eventTypes: [SUMMARY] }] }),
)

const JsonSchema = z.record(z.string(), z.unknown())

export const EventTypeView = named(
  'EventType',
  z
    .object({
      ...summary,
      schema: JsonSchema.nullable().describe(`${SCHEMA} null: the type has none.`),
      schemaVersion: z.int().nullable().describe('Number of the schema shown; null: the type has none.'),
      versions: z
        .array(
          z.object({
            version: z.int().describe('Number of the version, rising.'),
            createdAt: timestamp('When it was made'),
          }),
        )
        .describe('The versions of the schema, the oldest first.'),
      examples: z.array(z.unknown()).describe('Messages of this type.'),
      createdAt: timestamp('When it was created'),
    })
    .meta({
      description: 'A type of messages, with its schema.',
      examples: [
        {
          ...SUMMARY,
          schema: SCHEMA_EXAMPLE,
          schemaVersion: 2,
          versions: [
            { version: 1, createdAt: '2026-11-20T08:00:00.000Z' },
            { version: 2, createdAt: '2026-11-21T09:30:00.000Z' },
          ],
          examples: [{ id: 'o-1', total: 12.5 }],
          createdAt: '2026-11-20T08:00:00.000Z',
        },
      ],
    }),
)

export const EventTypeImportInput = namedInput(
  'EventTypeImport',
  z
    .strictObject({
      document: givenMap(z.string(), z.unknown()).describe(
        'An OpenAPI 3.1 document. Each entry of `webhooks` becomes an event type with the schema of its request’s JSON ' +
          'body. References must stay in the document; nothing is fetched.',
      ),
      dryRun: z
        .boolean()
        .optional()
        .describe('true: the answer says what would change, and nothing changes. Default false.'),
    })
    .meta({
      description: 'An OpenAPI document whose webhooks are imported.',
      examples: [
        {
          document: {
            openapi: '3.1.0',
            webhooks: {
              'order.paid': {
                post: {
                  summary: 'An order was paid.',
                  requestBody: { content: { 'application/json': { schema: SCHEMA_EXAMPLE } } },
                },
              },
            },
          },
          dryRun: true,
        },
      ],
    }),
)

export const EventTypeImportAnswer = named(
  'EventTypeImportResult',
  z
    .object({
      applied: z.boolean().describe('Whether the changes were made.'),
      changes: z
        .array(
          z.object({
            name: z.string().describe('Name of the event type.'),
            change: z
              .enum(['create', 'update', 'none'])
              .describe('create: the topic has no such type. none: it has the same one.'),
            members: z
              .array(z.enum(['description', 'schema', 'examples', 'deprecated']))
              .describe('The members that differ.'),
          }),
        )
        .describe('One entry per webhook of the document. Other types of the topic stay as they are.'),
    })
    .meta({
      description: 'The effect of an import.',
      examples: [
        { applied: false, changes: [{ name: 'order.paid', change: 'update', members: ['schema'] }] },
      ],
    }),
)

export const EventTypeDocument = named(
  'EventTypeDocument',
  z.record(z.string(), z.unknown()).meta({
    description: 'An OpenAPI 3.1 document with the catalogue as `webhooks`.',
    examples: [{ openapi: '3.1.0', info: { title: 'orders', version: '2026-11-21' }, webhooks: {} }],
  }),
)
