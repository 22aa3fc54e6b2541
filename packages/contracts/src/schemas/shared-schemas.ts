/** Parts that the REST schemas share, and the registry of their names in the OpenAPI document. */
import { z } from 'zod'
import { ERROR_STATUS, type ErrorCode } from '../fantail-error.ts'
import { isObject } from '../json-values.ts'
import { LIST_LIMIT_MAX, TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX } from '../limits.ts'
import { eventTypePatternProblem } from '../messages/event-type-rules.ts'

/** Schemas with a name of their own in the OpenAPI document. */
export const namedSchemas = z.registry<{ id: string }>()

/** Names of schemas that check requests. In these, a member with a default may be left out. */
export const requestSchemaNames = new Set<string>()

/** Names a schema of answers in the OpenAPI document. */
export function named<T extends z.ZodType>(id: string, schema: T): T {
  namedSchemas.add(schema, { id })
  return schema
}

/** Names a schema of requests in the OpenAPI document. */
export function namedInput<T extends z.ZodType>(id: string, schema: T): T {
  requestSchemaNames.add(id)
  return named(id, schema)
}

const shapes = new WeakMap<object, z.ZodType>()

/**
 * For a value that other code checks: the schema accepts everything, and has the shape of a named one only for readers.
 */
export function shownAs<T extends z.ZodType>(shape: z.ZodType, schema: T): T {
  const { $schema: _schema, ...shown } = z.toJSONSchema(shape)
  const made = schema.meta(shown)
  shapes.set(made, shape)
  return made
}

/** The named schema that a schema is shown as. */
export function shownShape(schema: object): z.ZodType | undefined {
  return shapes.get(schema)
}

/**
 * A map whose keys the caller chooses. zod drops the key `__proto__` without an error, and code that copies a map
 * member by member would change the copy's prototype. So that key is refused.
 */
export function givenMap<V extends z.ZodType>(key: z.ZodString, value: V) {
  return z.preprocess(
    (map, context) => {
      if (isObject(map) && Object.hasOwn(map, '__proto__'))
        context.addIssue({ code: 'custom', path: ['__proto__'], message: 'must have another name' })
      return map
    },
    z.record(key, value),
  )
}

const TagKey = z
  .string()
  .min(1)
  .max(TAG_KEY_CHARS_MAX)
  .refine((key) => !/^aws:/i.test(key), 'must not begin with aws:')

/** Tags in a request. They replace the earlier ones. */
export const TagsInput = givenMap(TagKey, z.string().max(TAG_VALUE_CHARS_MAX))
  .refine((tags) => Object.keys(tags).length <= TAGS_MAX, `must have at most ${TAGS_MAX} members`)
  .nullish()
  .describe(`Tags by their keys, at most ${TAGS_MAX}. A change replaces all of them. Default: none.`)
export const Tags = z.record(z.string(), z.string()).describe('Tags by their keys; empty: there are none.')

/** Attributes in a request. `kept` lists the possible names. */
export function attributesInput(kept: string) {
  return givenMap(z.string(), z.string())
    .nullish()
    .describe(
      `Attributes of the AWS API without a member here, as texts: ${kept}. A change replaces all of them. Default: none.`,
    )
}
export const Attributes = z
  .record(z.string(), z.string())
  .describe('Attributes of the AWS API that have no member here, as texts.')

export const Timestamp = z.iso.datetime({
  error: 'must be an ISO 8601 time in UTC, like 2026-11-21T09:30:00.000Z',
})

/** A time in an answer. `event` says what happened then. */
export function timestamp(event: string) {
  return Timestamp.describe(`${event}: ISO 8601 in UTC, with milliseconds.`)
}

export const CreatedAt = timestamp('When it was created')

/** A time in a request, with any offset. */
export const TimestampInput = z.iso.datetime({
  offset: true,
  error: ({ input }) =>
    input === undefined ? undefined : 'must be an ISO 8601 time with an offset, like 2026-11-21T09:30:00Z',
})

export const Since = TimestampInput.describe(
  'Only dead letters that were dead-lettered at this time or later: ISO 8601 with an offset.',
)
export const Until = TimestampInput.describe(
  'Only dead letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.',
)

export const TopicReference = z
  .string()
  .describe('A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.')
export const QueueReference = z
  .string()
  .describe('A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.')
export const SubscriptionReference = z.string().describe('A subscription by its id (a UUID) or its ARN.')

/** @limit Characters of the text of a search. Past it: `validation_failed`. */
const SEARCH_TEXT_CHARS_MAX = 200
export const SearchText = z.string().min(1).max(SEARCH_TEXT_CHARS_MAX)

/** A name of an event type such as `order.paid`, or a pattern such as `order.*`. */
export const EventTypePattern = z.string().superRefine((pattern, context) => {
  const message = eventTypePatternProblem(pattern)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

/** A member of a subscription's metadata in a query. Keys have no colon; values may. */
export const MetadataMember = z.string().regex(/^[A-Za-z0-9_.-]+:/, 'must be a key, a colon and the value')

/** Query members of every list. Numbers arrive as text. */
export const pageQuery = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIST_LIMIT_MAX)
    .default(LIST_LIMIT_MAX)
    .describe(`Items per page, 1 to ${LIST_LIMIT_MAX}; default ${LIST_LIMIT_MAX}.`),
  cursor: z
    .string()
    .min(1)
    .optional()
    .describe('Continues a list: the `nextCursor` of the page before. Leave it out for the first page.'),
}

/** `{<plural>: […], nextCursor}`. Its example is a page with the item's first example. */
export function pageOf<K extends string, T extends z.ZodType>(plural: K, item: T) {
  const shape = {
    [plural]: z.array(item).describe('The items of this page; there may be fewer than `limit`.'),
    nextCursor: z
      .string()
      .nullable()
      .describe('Give it as `cursor` to read the next page. null: this page is the last.'),
  } as { [key in K]: z.ZodArray<T> } & { nextCursor: z.ZodNullable<z.ZodString> }
  const examples = (item.meta()?.examples ?? []) as unknown[]
  return z.object(shape).meta({ examples: [{ [plural]: examples.slice(0, 1), nextCursor: null }] })
}

export const NoBody = namedInput(
  'NoMembers',
  z.strictObject({}).meta({ description: 'An empty object; the body may be left out.', examples: [{}] }),
)

const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]

export const ErrorAnswer = named(
  'Error',
  z
    .object({
      error: z
        .object({
          code: z
            .enum(CODES)
            .describe(
              'The kind of failure, for programs. Codes stay; new ones may be added. Each has one status.',
            ),
          message: z.string().describe('The failure in words, for people. It may change with any release.'),
          details: z
            .array(
              z.object({
                path: z.string().describe('The place in the request, with dots: `messages[3].subject`.'),
                message: z.string().describe('The problem there, to be read after the path.'),
              }),
            )
            .optional()
            .describe('Everything that is wrong with the input, one entry per problem.'),
        })
        .describe('The reason for the refusal, for programs and for people.'),
      requestId: z
        .string()
        .describe('The `X-Request-Id` of the request, or one made for it. The server’s log lines carry it.'),
    })
    .meta({
      description: 'Every refusal and failure of the REST API has this one shape.',
      examples: [
        {
          error: {
            code: 'validation_failed',
            message: 'displayName must have at most 100 characters',
            details: [{ path: 'displayName', message: 'must have at most 100 characters' }],
          },
          requestId: '6f1d2c6e-58a5-4a5e-9f6d-0a51c1b0e0a4',
        },
      ],
    }),
)
