/** API keys and their scopes, links and sessions of the portal, and lines of the audit log. */

/**
 * The permissions of a key (docs/security.md). `publish`: send to topics and queues. `read`: read everything. `manage`:
 * create, change and delete, also keys. `redrive`: move dead letters, retry. `consume`: receive from queues, which
 * `manage` may do too. `sms`: subscribe phone numbers and change settings of text
 * messages, which cost money. A key with prefixes never has it. `bodies`: see texts of messages without receiving them.
 * To receive messages, `consume` is enough.
 */
export const KEY_SCOPES = ['publish', 'read', 'manage', 'redrive', 'consume', 'sms', 'bodies'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** For whoever has no key yet: it works as it stands, and its key may do what the console offers. */
export const KEY_COMMAND =
  'fantail keys create --name ops --scope publish --scope read --scope manage --scope redrive --scope bodies'

/** `native`: a bearer token of the REST API. `aws`: an access key, which signs requests of the AWS protocols. */
export const KEY_KINDS = ['native', 'aws'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** A limit of requests. All keys with the same `id` share it. */
export interface KeyLimit {
  id: string
  maxRequestsPerSecond: number
}

export interface ApiKeyRecord {
  /** Public: `FK…`, 20 of A-Z 2-7. For an access key it is the access key id. */
  id: string
  kind: KeyKind
  /** For people. */
  name: string
  account: string
  scopes: KeyScope[]
  /** Prefixes of the names of topics and queues. Empty: all names. */
  prefixes: string[]
  /** null: unlimited. */
  maxRequestsPerSecond: number | null
  /** Limits of the keys that made this one. Its requests count against them too. Absent: there are none. */
  limitedBy?: KeyLimit[]
  createdAt: number
  /** Native keys: SHA-256 of the secret, hex. */
  secretHash?: string
  /** Access keys: the secret, sealed with the master key (context `sealContextOf`). */
  sealedSecret?: string
}

export const KEY_ID = /^FK[A-Z2-7]{18}$/
/** @limit Name of an API key. Past it: `validation_failed`. */
export const KEY_NAME_CHARS_MAX = 100
/** @limit Prefixes of an API key. Past it: `validation_failed`. */
export const KEY_PREFIXES_MAX = 20
/** @limit API keys of all accounts together. Past it: making one is refused. */
export const KEYS_MAX = 10_000
/** @limit Rate limit that an API key may have. Past it: `validation_failed`. */
export const KEY_REQUESTS_PER_SECOND_MAX = 1_000_000
/**
 * @limit Keys with limits in one chain, in which each key made the next one. Past it: the last key makes no further
 * keys.
 */
export const KEY_LIMITS_INHERITED_MAX = 4

/** The context with which this key's secret is sealed. */
export function sealContextOf(keyId: string): string {
  return `api key ${keyId}`
}

const TOKEN = /^ft_(FK[A-Z2-7]{18})_([A-Za-z0-9_-]{43})$/

/** `ft_<id>_<256 bits in base64url>`. */
export function formatToken(id: string, secret: string): string {
  return `ft_${id}_${secret}`
}

export function parseToken(text: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

/**
 * Portal links and sessions: what a customer of the operator may see and do in the portal. Scopes that a portal session
 * can have.
 */
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

/** One line of the audit log: a change that a caller has requested. */
export interface AuditLine {
  /** Id of the key, `anonymous` or `command line`. */
  keyId: string
  /** Absent without a key. */
  account?: string
  /** The caller's address. Absent without a connection. */
  address?: string
  /** The portal session that acted with the key. */
  portal?: string
  /** The route, or an operation as in `SNS:CreateTopic`. */
  action: string
  /** The names in the path or the request. */
  resource: Record<string, string>
  result: 'done' | 'denied' | 'failed'
  status: number
  /** The error code, if refused. */
  code?: string
  requestId: string
}
