/** API keys: the permissions of a key, and the text that carries it (docs/security.md). */

/**
 * `publish`: send to topics and queues. `read`: read everything. `manage`: create, change and delete, also keys.
 * `redrive`: move dead letters, retry. `consume`: receive from queues, which `manage` may do too. `sms`: subscribe
 * phone numbers and change settings of text messages, which cost money. A key with prefixes never has it. `bodies`: see
 * texts of messages without receiving them. To receive messages, `consume` is enough.
 */
export const KEY_SCOPES = ['publish', 'read', 'manage', 'redrive', 'consume', 'sms', 'bodies'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

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
