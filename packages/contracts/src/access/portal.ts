/** Portal links and sessions: what a customer of the operator may see and do in the portal. */
import type { KeyScope } from '../api-key.ts'

/** Scopes that a portal session can have. */
export const PORTAL_SCOPES = ['read', 'manage', 'redrive', 'bodies'] as const satisfies readonly KeyScope[]

interface PortalTheme {
  /** Shown instead of `Fantail`. */
  name: string | null
  /** `data:image/png;base64,…`, or of jpeg or webp. */
  logo: string | null
  /** `#rrggbb`. White text must be readable on it. */
  colour: string | null
}

/** The rights that the maker of a link has granted. At every use, the rights of the maker's key limit them. */
export interface PortalGrant {
  /** Names the link, and later its session, in lists and audit lines. It is no secret. */
  id: string
  /** The key that made the link. */
  keyId: string
  account: string
  /** Prefixes of topic names. Empty: the grant is for subscriptions. */
  prefixes: string[]
  /** Ids of subscriptions. null: the grant is for prefixes. */
  subscriptions: string[] | null
  scopes: KeyScope[]
  theme: PortalTheme
}

export interface PortalLinkRecord extends PortalGrant {
  /** Life of the session. */
  ttlSeconds: number
}

export interface PortalSessionRecord extends PortalGrant {
  /** Epoch ms. */
  createdAt: number
  /** Epoch ms. */
  endsAt: number
}
