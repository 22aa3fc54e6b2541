/**
 * Headers of every answer. Unless its route says otherwise, an answer is no page and no frame, and its type must not be
 * guessed.
 */

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/** Where TLS ends here; a proxy that ends it adds its own. */
const TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000' }

export function securityHeaders(secure: boolean): Readonly<Record<string, string>> {
  return secure ? { ...SECURITY_HEADERS, ...TRANSPORT } : SECURITY_HEADERS
}
