/** API keys: what each may do, and the text that carries one (docs/security.md). */

/**
 * `publish`: send to topics and queues; `read`: look at anything; `manage`: create, change and delete, keys included;
 * `redrive`: move dead letters, retry; `consume`: receive from queues, which `manage` may too.
 */
export const KEY_SCOPES = ['publish', 'read', 'manage', 'redrive', 'consume'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/**
 * `native`: a bearer token of the REST API. `aws`: an access key that requests of the AWS protocols are signed with.
 */
export const KEY_KINDS = ['native', 'aws'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** Requests of all that are counted under this id. */
export interface KeyLimit {
  id: string
  maxRequestsPerSecond: number
}

export interface ApiKeyRecord {
  /** Public: `FK…`, 20 of A-Z 2-7. For an access key, its access key id. */
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
  /** Limits of the keys that made this one; its requests count against them too. Absent: none. */
  limitedBy?: KeyLimit[]
  createdAt: number
  /** Native: SHA-256 of the secret, hex. */
  secretHash?: string
  /** Access keys: sealed with the master key, context `sealContextOf`. */
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
/** @limit Limited keys that made one another in a row. Past it: the last one makes no further keys. */
export const KEY_LIMITS_INHERITED_MAX = 4

/** The seal's context of this key's secret. */
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
