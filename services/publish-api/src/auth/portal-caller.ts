/**
 * Finds out which portal session sends a request, and what it may do now: the rights that its link grants, but never
 * more than the key that made the link has now. A session acts as that key, with fewer scopes and names. If the key is
 * revoked or may no longer do all that the link grants, the session has ended.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Caller, Key } from '@fantail/access'
import {
  FantailError,
  isTopicName,
  nameOfArn,
  type PortalGrant,
  type PortalSessionRecord,
  type Protocol,
  topicArn,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'

type Tools = Pick<ApiDeps, 'portalCache' | 'keyCache' | 'clock'>

const ENDED = 'This session has ended. Open the portal again.'

/** Rejects with `unauthorized`. */
export async function portalCallerOf(
  token: string,
  { portalCache, keyCache, clock }: Tools,
): Promise<Caller> {
  const digest = digestOfToken(token)
  const session = portalCache.known(digest) ?? (await portalCache.find(digest))
  if (!session || session.endsAt <= clock()) throw new FantailError('unauthorized', ENDED)
  const maker = await keyCache.knownKey(session.keyId)
  const key = maker && portalKey(maker.key, session)
  if (!key) throw new FantailError('unauthorized', ENDED)
  return key
}

/** The session of a caller that the guard has let through. Throws `unauthorized` if it ended meanwhile. */
export async function portalSessionOf(
  token: string,
  { portalCache }: Pick<Tools, 'portalCache'>,
): Promise<PortalSessionRecord> {
  const digest = digestOfToken(token)
  const session = portalCache.known(digest) ?? (await portalCache.find(digest))
  if (!session) throw new FantailError('unauthorized', ENDED)
  return session
}

/** @limit Requests of a portal session in a second. Past it: further requests get 429. */
const PORTAL_REQUESTS_PER_SECOND = 20

type Wanted = Pick<PortalGrant, 'account' | 'prefixes' | 'scopes'>

/** Why the key may not grant this. undefined: it may. */
export function excessOf(key: Key, { account, prefixes, scopes }: Wanted): string | undefined {
  if (account !== key.account) return `key ${key.id} is of another account`
  const lacking = scopes.filter((scope) => !key.scopes.has(scope))
  if (lacking.length > 0) return `key ${key.id} lacks the scope ${lacking.join(', ')} itself`
  const foreign = prefixes.filter((prefix) => !isWithin(key, prefix))
  return foreign.length > 0
    ? `key ${key.id} is not for names that begin with ${foreign.join(', ')}`
    : undefined
}

function isWithin({ prefixes }: Key, prefix: string): boolean {
  return prefixes.length === 0 || prefixes.some((own) => prefix.startsWith(own))
}

/** The caller that a session acts as. undefined: the key that made its link may no longer grant this. */
function portalKey(maker: Key, session: PortalGrant): Key | undefined {
  // A key without `manage` cannot make links any more, so its sessions end too.
  if (!maker.scopes.has('manage') || excessOf(maker, session) !== undefined) return undefined
  const { id, prefixes, subscriptions, scopes } = session
  return {
    id: maker.id,
    kind: 'native',
    account: maker.account,
    scopes: new Set(scopes),
    // A session for subscriptions keeps the prefixes of the key. Its list of subscriptions limits it further.
    prefixes: subscriptions === null ? prefixes : maker.prefixes,
    limits: [{ id: `portal-${id}`, maxRequestsPerSecond: PORTAL_REQUESTS_PER_SECOND }, ...maker.limits],
    portal: { id, subscriptions: subscriptions === null ? null : new Set(subscriptions) },
  }
}

export type PortalKey = Key & { portal: NonNullable<Key['portal']> }

/** The caller of a portal route. The guard admits only portal sessions, unless keys are not required. */
export function portalKeyOf(caller: Key | null): PortalKey {
  if (caller?.portal) return { ...caller, portal: caller.portal }
  throw new FantailError('not_supported', 'this server does not require keys, so it has no portal sessions')
}

/** Throws `validation_failed` if the text is no topic's name. */
export function portalTopicArn({ settings }: Pick<ApiDeps, 'settings'>, key: Key, name: string): string {
  if (!isTopicName(name)) throw FantailError.invalid('topic', 'must be the name of a topic')
  return topicArn(name, { ...settings.arn, account: key.account })
}

/** The topic in the path of a portal route. The guard has made an ARN of the name if the key has another account. */
export function portalTopicInPath(
  deps: Pick<ApiDeps, 'settings'>,
  { caller, params }: Pick<Call, 'caller' | 'params'>,
): string {
  return portalTopicArn(deps, portalKeyOf(caller), nameOfArn(params.topic ?? ''))
}

/** Whether a portal session may see the subscription. Queues, functions and other kinds belong to the operator. */
export function isWebhook(protocol: Protocol): boolean {
  return PROTOCOL_TRAITS[protocol].takes.webhookKeys
}

interface Use {
  what: string
  max: number
  windowMs: number
}

/** Throws `rate_limited`. */
export async function countUse(
  { portalSessions }: Pick<ApiDeps, 'portalSessions'>,
  key: PortalKey,
  use: Use,
): Promise<void> {
  const waitMs = await portalSessions.countUse({ id: key.portal.id, ...use })
  if (waitMs === null) return
  const retryAfterSeconds = Math.ceil(waitMs / 1_000)
  throw new FantailError('rate_limited', `a portal session may do this ${use.max} times only`, {
    retryAfterSeconds,
  })
}

const LINK = 'fpl_'
const SESSION = 'fps_'
const PORTAL_SECRET_BYTES = 32
const LINK_TOKEN = /^fpl_[A-Za-z0-9_-]{43}$/
const SESSION_BEARER = /^bearer +(fps_[A-Za-z0-9_-]{43})$/i

/** Tokens of portal links and sessions. They begin differently, so neither can be used as the other. */
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
