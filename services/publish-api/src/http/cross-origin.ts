/**
 * Lets web pages of other origins call the API (CORS), if the operator has listed these origins. Browsers never send
 * the session cookie of the console with such a request, so the page needs a key of its own.
 */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

/** How long a browser remembers the answer to its question about an origin. Past it: it asks again. */
const REMEMBERED_SECONDS = 600
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'traceparent',
  'X-Request-Id',
]
const RESPONSE_HEADERS = ['Retry-After', 'X-Request-Id']

export function answerOrigins(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: [...origins],
    allowMethods: METHODS,
    allowHeaders: REQUEST_HEADERS,
    exposeHeaders: RESPONSE_HEADERS,
    maxAge: REMEMBERED_SECONDS,
  })
}
