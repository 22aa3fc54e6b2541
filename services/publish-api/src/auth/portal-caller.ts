/** Finds out which portal session sends a request, and what it may do now. */
import type { Caller } from '@fantail/access'
import { FantailError, type PortalSessionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { portalKey } from './portal-grant.ts'
import { digestOfToken } from './portal-tokens.ts'

type Tools = Pick<ApiDeps, 'portalCache' | 'keyCache' | 'clock'>

const ENDED = 'the portal session has ended: open a new link'

/** Rejects with `unauthorized`. */
export async function portalCallerOf(
  token: string,
  { portalCache, keyCache, clock }: Tools,
): Promise<Caller> {
  const digest = digestOfToken(token)
  const session = portalCache.known(digest) ?? (await portalCache.find(digest))
  if (!session || session.endsAt <= clock()) throw new FantailError('unauthorized', ENDED)
  const maker = await keyCache.of(session.keyId)
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
