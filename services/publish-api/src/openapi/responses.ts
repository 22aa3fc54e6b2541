/** The responses of operations: their own answers, and one per status for errors. */
import { ERROR_MEANING, ERROR_STATUS, type ErrorCode } from '@fantail/contracts'
import { ErrorAnswer } from '@fantail/contracts/schemas/shared-schemas'
import { z } from 'zod'
import type { AnswerDoc } from '../http/endpoint.ts'
import { described, examplesOf, type Json, referenceTo } from './component-schemas.ts'

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
/** Every error with one of these statuses says when to try again. */
const RETRIABLE = [429, 503]

export const HEADERS: Record<string, Json> = {
  RequestId: header(
    z.string().describe('The `X-Request-Id` of the request, or one made for it; log lines carry it.'),
  ),
  RetryAfter: header(z.int().min(1).describe('Whole seconds to wait before the request is tried again.')),
}

/** Components that operations refer to, by name. */
export interface Shared {
  responses: Record<string, Json>
  /** Examples of errors, by code. */
  examples: Record<string, Json>
}

function exampleOf(code: ErrorCode): Json {
  const [first] = examplesOf(ErrorAnswer) as [z.output<typeof ErrorAnswer>]
  const value =
    first.error.code === code ? first : { ...first, error: { code, message: ERROR_MEANING[code] } }
  return { summary: ERROR_MEANING[code], value }
}

export function answerResponses(answers: Record<number, AnswerDoc>): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, answerResponse(answer)]),
  )
}

function answerResponse({ description, schema, contentType, headers = {} }: AnswerDoc): Json {
  const own = Object.entries(headers).map(([name, one]) => [name, header(one)])
  const content = schema
    ? contentOf(schema, contentType)
    : contentType && { [contentType]: { schema: { type: 'string' } } }
  return { description, headers: { ...REQUEST_ID, ...Object.fromEntries(own) }, ...(content && { content }) }
}

function contentOf(schema: z.ZodType, type = 'application/json'): Json {
  const [example] = examplesOf(schema)
  return {
    [type]: { schema: referenceTo(schema), ...(example !== undefined && { example }) },
  }
}

/** One reference per status, except the operation's own. The referenced responses are added to `shared`. */
export function errorResponses(
  errors: ErrorCode[],
  answers: Record<number, AnswerDoc>,
  shared: Shared,
): Json {
  const byStatus = Map.groupBy(new Set(errors.toSorted()), (code) => ERROR_STATUS[code])
  const refused = [...byStatus].filter(([status]) => !(status in answers))
  const references = refused.map(([status, codes]) => {
    const name = codes.map(pascalCase).join('Or')
    shared.responses[name] ??= errorResponse(status, codes)
    for (const code of codes) shared.examples[code] ??= exampleOf(code)
    return [status, { $ref: `#/components/responses/${name}` }]
  })
  return Object.fromEntries(references)
}

/** `not_found` is `NotFound`. */
function pascalCase(code: ErrorCode): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function errorResponse(status: number, codes: ErrorCode[]): Json {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANING[code]}`).join('\n\n'),
    headers: { ...REQUEST_ID, ...(RETRIABLE.includes(status) && RETRY_AFTER) },
    content: {
      'application/json': { schema: referenceTo(ErrorAnswer), examples: Object.fromEntries(examples) },
    },
  }
}

function header(schema: z.ZodType): Json {
  const { required: _, ...rest } = described(schema)
  return rest
}
