/**
 * The rights of a portal session: the rights that its link grants, but never more than the key that made the link has
 * now. A session acts as that key, with fewer scopes and names. If the key is revoked or may no longer do all that the
 * link grants, the session has ended.
 */
import type { Key } from '@fantail/access'
import type { PortalGrant } from '@fantail/contracts'

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
export function portalKey(maker: Key, session: PortalGrant): Key | undefined {
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
