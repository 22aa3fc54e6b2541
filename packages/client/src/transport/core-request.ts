/** Converts requests from the form of the generated functions to the form of `fetch`. */
import type { FantailOptions } from '../settings/client-settings.ts'

export interface CallOptions {
  /** Ends the call, its waits included. */
  signal?: AbortSignal | undefined
  /** How long the whole call may take, with its retries and waits. Default: the client's. */
  deadlineMs?: number | undefined
  /** How long one attempt may take. Default: the client's. */
  timeoutMs?: number | undefined
  /** Requests at most. Default: the client's. */
  maxAttempts?: number | undefined
  /** W3C `traceparent`. Default: the client's. */
  traceparent?: string | undefined
}

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** A call, as a generated function hands it to its client. */
export interface CoreRequest extends CallOptions {
  /** With names in braces. */
  url: string
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  headers?: unknown
  bodySerializer?: unknown
  /** A wait that the request asks of the server. The timeout of an attempt is longer by this time. */
  serverWaitMs?: number
}

export function urlOf(base: string, { url, path = {}, query = {} }: CoreRequest): string {
  const whole = base + url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const search = new URLSearchParams(given.flatMap(([name, value]) => pairsOf(name, value)))
  return given.length === 0 ? whole : `${whole}?${search}`
}

/** Writes query parameters: objects as `name[member]=value`, lists as repeated names. */
function pairsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.map((one) => [name, String(one)])
  if (typeof value !== 'object' || value === null) return [[name, String(value)]]
  return Object.entries(value).map(([member, one]) => [`${name}[${member}]`, String(one)])
}

export function bodyOf({ body, bodySerializer }: CoreRequest): string | undefined {
  if (body === undefined) return undefined
  if (typeof bodySerializer === 'function') return String(bodySerializer(body))
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** POST requests that the server remembers by their key. */
const KEYED_POSTS = new Set([
  '/v1/topics/{topic}/messages',
  '/v1/messages',
  '/v1/messages/{messageId}/resend',
])
const KEY_HEADER = 'idempotency-key'

/** All headers except the API key. A publish or resend without an idempotency key gets one. */
export function headersOf(request: CoreRequest, method: Method, settings: FantailOptions): Headers {
  const headers = new Headers(settings.headers)
  const given = Object.entries((request.headers ?? {}) as Record<string, unknown>)
  for (const [name, value] of given) if (value !== undefined) headers.set(name, String(value))
  if (request.body === undefined) headers.delete('content-type')
  const traceparent = request.traceparent ?? settings.traceparent?.()
  if (traceparent !== undefined) headers.set('traceparent', traceparent)
  if (method === 'POST' && KEYED_POSTS.has(request.url) && !headers.has(KEY_HEADER)) {
    headers.set(KEY_HEADER, newIdempotencyKey())
  }
  return headers
}

/** 128 random bits. Pages without TLS have no `randomUUID`. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** POST requests that may be sent again after a lost answer, because a repetition changes nothing. */
const REPEATABLE_POSTS = new Set([
  '/v1/topics/{topic}/subscriptions',
  '/v1/subscriptions/{id}/pause',
  '/v1/subscriptions/{id}/resume',
  '/v1/subscriptions/{id}/confirm',
  '/v1/subscriptions/{id}/retry',
  '/v1/subscriptions/{id}/purge',
  '/v1/delivery-policies/preview',
  '/v1/event-types/check',
  '/v1/filter-policies/test',
  '/v1/filter-policies/replay',
  '/v1/queues/{queue}/receive',
  '/v1/queues/{queue}/ack',
  '/v1/queues/{queue}/visibility',
  '/v1/queues/{queue}/purge',
  '/v1/redrives/{id}/cancel',
  '/v1/redrives/{id}/pause',
  '/v1/redrives/{id}/resume',
  '/v1/email/bounces',
])

export function isRepeatable(method: Method, url: string, headers: Headers): boolean {
  return method !== 'POST' || headers.has(KEY_HEADER) || REPEATABLE_POSTS.has(url)
}
