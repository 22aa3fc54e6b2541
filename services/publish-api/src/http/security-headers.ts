/**
 * Headers of every answer. Unless its route says otherwise, an answer must not be shown as a page or in a frame, and
 * its type must not be guessed.
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
