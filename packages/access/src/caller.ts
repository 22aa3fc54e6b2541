/** The caller of a request: a key, or anonymous if keys are not required. */
import {
  type ApiKeyRecord,
  FantailError,
  type KeyKind,
  type KeyLimit,
  type KeyScope,
} from '@fantail/contracts'

export interface Key {
  id: string
  kind: KeyKind
  account: string
  scopes: ReadonlySet<KeyScope>
  /** Empty: every name. */
  prefixes: readonly string[]
  /**
   * Every limit that a request of this key counts against: the key's own, and those of the keys that made it, directly
   * or through others. Empty: unlimited.
   */
  limits: readonly KeyLimit[]
  /** The caller is a portal session, which acts with a part of the key’s rights. */
  portal?: PortalBounds
}

interface PortalBounds {
  /** Id of the session, no secret. */
  id: string
  /** Ids of the only subscriptions that the session may see. null: it sees those of the topics with its prefixes. */
  subscriptions: ReadonlySet<string> | null
}

export type Caller = Key | null

type Known = 'id' | 'kind' | 'account' | 'scopes' | 'prefixes' | 'maxRequestsPerSecond' | 'limitedBy'

export function keyOf(record: Pick<ApiKeyRecord, Known>): Key {
  const { id, kind, account, scopes, prefixes, maxRequestsPerSecond, limitedBy = [] } = record
  const own = maxRequestsPerSecond === null ? [] : [{ id, maxRequestsPerSecond }]
  return { id, kind, account, scopes: new Set(scopes), prefixes, limits: [...own, ...limitedBy] }
}

/** The caller's ARN, as policies name it. */
export function principalOf({ account, id }: Pick<Key, 'account' | 'id'>): string {
  return `arn:aws:iam::${account}:user/${id}`
}

/** The caller's name in audit lines. */
export function whoIs(caller: Caller): string {
  return caller?.id ?? 'anonymous'
}

/** The caller in texts of refusals. Customers do not learn which key their portal acts with. */
function nameOf({ id, portal }: Key): string {
  return portal ? 'this session' : `key ${id}`
}

/** Whether the caller may see the texts of messages. */
export function seesBodies(caller: Caller): boolean {
  return caller === null || caller.scopes.has('bodies')
}

/** Throws `forbidden` if the key has none of the scopes. */
export function needScope(key: Key, scopes: readonly KeyScope[]): void {
  if (scopes.some((scope) => key.scopes.has(scope))) return
  throw new FantailError('forbidden', `${nameOf(key)} lacks the scope ${scopes.join(' or ')}`)
}

/** Throws `forbidden` if the key is restricted to some names. */
export function needAllNames(key: Key): void {
  needNames(key, '')
}

/** Throws `forbidden` if the key is restricted to some names, and not all that begin with this are among them. */
export function needNames(key: Key, beginning: string): void {
  if (key.prefixes.length === 0 || key.prefixes.some((prefix) => beginning.startsWith(prefix))) return
  if (key.portal) throw new FantailError('forbidden', 'this session is for some names only')
  const names = key.prefixes.join(', ')
  throw new FantailError('forbidden', `key ${key.id} is for names that begin with ${names} only`)
}

/**
 * Guards actions that concern the whole server and not one account. They need a key of the server's own account without
 * prefixes. Throws `forbidden`.
 */
export function needServer(key: Key, account: string): void {
  needAllNames(key)
  if (key.account !== account) throw new FantailError('forbidden', `this is for keys of account ${account}`)
}
