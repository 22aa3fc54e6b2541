/**
 * The session of the person who uses the console. It is a cookie that scripts cannot read. A second value protects
 * against forged requests. It is kept only in memory, and every request has it.
 */
let csrfToken: string | null = null
/** The token of a portal session. It takes the place of the cookie, and is kept only in memory. */
let bearer: string | null = null

export function keepCsrfToken(token: string | null): void {
  csrfToken = token
}

export function keepBearer(token: string | null): void {
  bearer = token
}

/** Adds the session to a request. Without a session the request stays unchanged. */
export function withSession(request: Request): Request {
  if (csrfToken !== null) request.headers.set('X-Fantail-CSRF', csrfToken)
  if (bearer !== null) request.headers.set('Authorization', `Bearer ${bearer}`)
  return request
}
