/** Headers of answers: those that every answer has, and those for web pages of other origins. */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

/**
 * Unless its route says otherwise, an answer must not be shown as a page or in a frame, and its type must not be
 * guessed.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/** Sent if this process serves TLS. A proxy that serves TLS adds its own header. */
const TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000' }

export function securityHeaders(secure: boolean): Readonly<Record<string, string>> {
  return secure ? { ...SECURITY_HEADERS, ...TRANSPORT } : SECURITY_HEADERS
}

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

/**
 * Lets web pages of other origins call the API (CORS), if the operator has listed these origins. Browsers never send
 * the session cookie of the console with such a request, so the page needs a key of its own.
 */
export function answerOrigins(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: [...origins],
    allowMethods: METHODS,
    allowHeaders: REQUEST_HEADERS,
    exposeHeaders: RESPONSE_HEADERS,
    maxAge: REMEMBERED_SECONDS,
  })
}
