/**
 * A route as data: what it takes, answers and may refuse, and what it does. Mounting and the OpenAPI document both read
 * it, so neither can know a route that the other does not.
 */

import type { Caller } from '@fantail/access'
import type { ErrorCode, Problem } from '@fantail/contracts'
import type { z } from 'zod'
import type { Tag } from '../openapi/tags.ts'
import type { ApiRequest } from './api-request.ts'
import type { CountedAs } from './request-times.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** A handler's answer: `body` is written as JSON, `text` unchanged. */
export interface Answer {
  status: number
  body?: unknown
  text?: string | Buffer
  headers?: Record<string, string>
  /** The metric series that the request counts in, one object for all its requests. Default: its endpoint's. */
  countedAs?: CountedAs | undefined
}

export interface Call<Q = unknown, B = unknown> {
  request: ApiRequest
  /** null: keys are not asked for. */
  caller: Caller
  requestId: string
  /** Monotonic ms. */
  startedAt: number
  params: Record<string, string>
  query: Q
  body: B
}

export interface AnswerDoc {
  description: string
  /** Named in contracts; of an `application/json` answer. */
  schema?: z.ZodType
  contentType?: string
  /** By name. */
  headers?: Record<string, z.ZodType>
}

export interface Endpoint<Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  /** The operation's name in generated clients, camelCase. */
  id: string
  method: Method
  /** A path in OpenAPI's form: `/v1/topics/{topic}`. */
  path: string
  /** Patterns of the path's parameters. Such a route is tried only if no other takes the path. */
  where?: Record<string, string>
  /** The meaning of the path's parameters, for the documentation. */
  params?: Record<string, z.ZodType>
  tag: Tag
  /** At most a line. */
  summary: string
  /** The effect, beyond the summary. */
  description: string
  /** Request headers that the handler reads; they document. */
  headers?: Record<string, z.ZodType>
  query?: Q
  /** `own`: the handler judges it; the schema documents. */
  queryIs?: 'own'
  body?: B
  /** `optional`: no body counts as `{}`. `own`: the handler reads it by itself. Default: `required`. */
  bodyIs?: 'required' | 'optional' | 'own'
  /** Bodies of other content types that the handler reads by itself; they document. */
  otherBodies?: Record<string, z.ZodType>
  /** Members that exist and cannot be set. The error says so instead of calling them unknown. */
  fixed?: readonly string[]
  /** Problems that a schema cannot find. Called even if the body has other problems. */
  check?: (body: Record<string, unknown>) => Problem[]
  answers: Record<number, AnswerDoc>
  /** Beyond those that every route has. */
  errors: ErrorCode[]
  handle(call: Call<z.output<Q>, z.output<B>>): Promise<Answer> | Answer
}

/** Keeps the types of query and body; the list of routes does not need them. */
export function endpoint<Q extends z.ZodType, B extends z.ZodType>(definition: Endpoint<Q, B>): Endpoint {
  return definition as unknown as Endpoint
}

export function ok(body: unknown): Answer {
  return { status: 200, body }
}

export const NO_CONTENT: Answer = { status: 204 }
