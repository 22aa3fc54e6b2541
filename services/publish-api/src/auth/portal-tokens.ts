/** Tokens of portal links and sessions. They begin differently, so neither can be used as the other. */
import { hash, randomBytes } from 'node:crypto'

const LINK = 'fpl_'
const SESSION = 'fps_'
const PORTAL_SECRET_BYTES = 32
const LINK_TOKEN = /^fpl_[A-Za-z0-9_-]{43}$/
const SESSION_BEARER = /^bearer +(fps_[A-Za-z0-9_-]{43})$/i

export function makeLinkToken(): string {
  return LINK + randomBytes(PORTAL_SECRET_BYTES).toString('base64url')
}

export function makePortalToken(): string {
  return SESSION + randomBytes(PORTAL_SECRET_BYTES).toString('base64url')
}

export function isLinkToken(text: string): boolean {
  return LINK_TOKEN.test(text)
}

/** The token of a portal session in the header Authorization. undefined: it has none. */
export function portalTokenIn(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : SESSION_BEARER.exec(authorization.trim())?.[1]
}

/** The digest under which Redis stores a link or session. */
export function digestOfToken(token: string): string {
  return hash('sha256', token, 'hex')
}
