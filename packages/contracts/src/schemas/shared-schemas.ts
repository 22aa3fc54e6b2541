/** Pieces that the REST shapes share, and the registry that names them in the OpenAPI document. */
import { z } from 'zod'
import { ERROR_STATUS, type ErrorCode } from '../fantail-error.ts'
import { LIST_LIMIT_MAX } from '../limits.ts'

/** Schemas with a name of their own in the OpenAPI document. */
export const namedSchemas = z.registry<{ id: string }>()

/** Names a schema in the OpenAPI document. */
export function named<T extends z.ZodType>(id: string, schema: T): T {
  namedSchemas.add(schema, { id })
  return schema
}

export const Timestamp = z.iso
  .datetime({ error: 'must be an ISO 8601 time in UTC, like 2026-11-21T09:30:00.000Z' })
  .describe('ISO 8601, UTC, with milliseconds')

/** A time that a client gives: any offset is understood. */
export const TimestampInput = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time with an offset, like 2026-11-21T09:30:00Z',
})

export const TopicReference = z.string().describe('A topic’s name or ARN')
export const QueueReference = z.string().describe('A queue’s name or ARN')
export const SubscriptionReference = z.string().describe('A subscription’s id or ARN')

/** Members of every list's query; numbers arrive as text. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(LIST_LIMIT_MAX).default(LIST_LIMIT_MAX),
  cursor: z.string().min(1).optional(),
}

/** `{<plural>: […], nextCursor}`. */
export function pageOf<K extends string, T extends z.ZodType>(plural: K, item: T) {
  const shape = { [plural]: z.array(item), nextCursor: z.string().nullable() } as {
    [key in K]: z.ZodArray<T>
  } & { nextCursor: z.ZodNullable<z.ZodString> }
  return z.object(shape)
}

export const NoBody = z.strictObject({})

const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]

export const ErrorAnswer = named(
  'Error',
  z.object({
    error: z.object({
      code: z.enum(CODES),
      message: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
    requestId: z.string(),
  }),
)
