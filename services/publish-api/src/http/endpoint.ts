/**
 * A route as data: its input, its answers and errors, and its handler. Both the router and the OpenAPI document use
 * this data, so they always have the same routes.
 */
import type { Caller, Target } from '@fantail/access'
import type { ApiSettings } from '@fantail/config'
import {
  type ErrorCode,
  type FantailError,
  type Problem,
  resolveQueue,
  resolveSubscription,
} from '@fantail/contracts'
import type { z } from 'zod'
import type { ApiRequest } from './api-request.ts'
import type { CountedAs } from './request-times.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** A handler's answer. `body` is written as JSON, `text` and `stream` unchanged. */
export interface Answer {
  status: number
  body?: unknown
  text?: string | Buffer
  /** Sent piece by piece as it comes. */
  stream?: ReadableStream<Uint8Array>
  headers?: Record<string, string>
  /** Headers of all other answers that this answer must not have. */
  omits?: readonly string[]
  /**
   * The labels under which metrics count the request: one object for all requests of its kind. Default: the endpoint's.
   */
  countedAs?: CountedAs | undefined
}

export interface Call<Q = unknown, B = unknown> {
  request: ApiRequest
  /** null: keys are not required. */
  caller: Caller
  requestId: string
  /** Monotonic ms. */
  startedAt: number
  params: Record<string, string>
  query: Q
  body: B
  /** For routes whose rule says so: whether the caller may do something. Absent: it may do everything. */
  mayDo?: (target: Target) => Promise<boolean>
  /** For routes that stream: rejects if the caller is no longer allowed to make the call. */
  recheck?: () => Promise<void>
}

export interface AnswerDoc {
  description: string
  /** The schema of the answer, named in contracts. With a `contentType` it is the schema of one event of a stream. */
  schema?: z.ZodType
  contentType?: string
  /** Name → schema of the header. */
  headers?: Record<string, z.ZodType>
}

export interface Endpoint<Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  /** The operation's name in generated clients, camelCase. */
  id: string
  method: Method
  /** A path in OpenAPI's form: `/v1/topics/{topic}`. */
  path: string
  /** Patterns of the path's parameters. Such a route is tried only if no other route matches the path. */
  where?: Record<string, string>
  /** The meaning of the path's parameters, for the documentation. */
  params?: Record<string, z.ZodType>
  tag: Tag
  /** At most a line. */
  summary: string
  /** The effect, in addition to the summary. */
  description: string
  /** Request headers that the handler reads, for the documentation. */
  headers?: Record<string, z.ZodType>
  query?: Q
  /** `own`: the handler checks the query, and the schema only documents it. */
  queryIs?: 'own'
  body?: B
  /** `optional`: a missing body counts as `{}`. `own`: the handler reads the body. Default: `required`. */
  bodyIs?: 'required' | 'optional' | 'own'
  /** Bodies of other content types, which the handler reads. For the documentation. */
  otherBodies?: Record<string, z.ZodType>
  /** Members that exist and cannot be changed. The error says so, instead of calling them unknown. */
  fixed?: readonly string[]
  /** Problems that a schema cannot find. Called even if the body has other problems. */
  check?: (body: Record<string, unknown>) => Problem[]
  /** The answer is a stream that may last for long. The caller may lose its rights meanwhile. */
  streams?: true
  answers: Record<number, AnswerDoc>
  /** Error codes in addition to those of every route, and those of every route with a query or a body. */
  errors?: ErrorCode[]
  /** Puts an error into words for the callers of this route. */
  inWords?: (error: FantailError) => FantailError
  handle(call: Call<z.output<Q>, z.output<B>>): Promise<Answer> | Answer
}

/** Keeps the types of query and body for the handler. The list of routes does not need them. */
export function endpoint<Q extends z.ZodType, B extends z.ZodType>(definition: Endpoint<Q, B>): Endpoint {
  return definition as unknown as Endpoint
}

export function ok(body: unknown): Answer {
  return { status: 200, body }
}

export const NO_CONTENT: Answer = { status: 204 }

/** Groups of operations, in the order in which the document shows them. */
export const TAGS = {
  Messages: 'Publish to a topic, and see how the deliveries of a message ended.',
  Topics: 'A message that is published to a topic goes to each of its subscriptions.',
  'Event types': 'The catalogue of a topic: which types of messages it has, with a schema for each.',
  Subscriptions: 'Webhooks and queues that get the messages of a topic: settings, state, keys of signatures.',
  'Delivery policies': 'Try a retry policy before it is set.',
  'Filter policies': 'Try a filter policy on a message before it is set.',
  Queues:
    'Queues with the semantics of Amazon SQS: send, receive, acknowledge, look inside, count dead letters.',
  'Push consumers': 'Webhooks that a queue’s messages are pushed to in batches.',
  Redrives: 'Tasks that move dead letters back to where they came from, or to another queue.',
  Bulk: 'Act on many lanes at once, see the progress, and undo it.',
  Quarantine:
    'Messages that cannot be decoded wait here for an operator. Only keys of the whole server see them.',
  Keys: 'API keys and access keys. Only keys that are bound to no names manage them.',
  Portal: 'Links for customers of the operator, and the few routes that their sessions may call.',
  Mail: 'Addresses that get no mail, and the pages that links in mails open.',
  'Mobile push': 'Credentials of push providers, and the devices and browsers that get notifications.',
  'Text messages': 'Settings and spend of text messages, and phone numbers that get none.',
  Service: 'Health, metrics and this documentation.',
  AWS: 'Amazon’s own protocols for SNS, SQS and STS on the same port, and what delivered messages link to.',
  Webhooks: 'Requests that Fantail sends to subscribed endpoints.',
} as const

export type Tag = keyof typeof TAGS

/** The subscription that a path names by id or ARN. */
export function idOf(call: Call): string {
  return resolveSubscription(call.params.id ?? '')
}

/** The ARN of the queue that a path names. */
export function queueOf({ settings }: { settings: Pick<ApiSettings, 'arn'> }, { params }: Call): string {
  return resolveQueue(params.queue ?? '', settings.arn)
}
