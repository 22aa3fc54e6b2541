/** Sessions of an account, of console and portal: lists them, and ends one. */
import { FantailError } from '@fantail/contracts'
import { SessionListAnswer } from '@fantail/contracts/schemas/access/session-list-schemas'
import { z } from 'zod'
import { digestOf, sessionTokenOf } from '../../auth/session-cookie.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { iso } from '../../http/record-views.ts'

const TAG = 'Keys'
const DIGEST = /^[0-9a-f]{64}$/

type View = z.input<typeof SessionListAnswer>['sessions'][number]

export function sessionListRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listSessions',
      method: 'GET',
      path: '/v1/sessions',
      tag: TAG,
      summary: 'List the sessions of console and portal',
      description: 'Sessions of keys of the caller’s account, at most 2,000. They have no tokens.',
      answers: { 200: { description: 'The sessions', schema: SessionListAnswer } },
      errors: [],
      handle: async (call) => ok({ sessions: await ownSessions(deps, call) }),
    }),
    endpoint({
      id: 'endSession',
      method: 'DELETE',
      path: '/v1/sessions/{session}',
      params: { session: z.string().describe('Id of a session, as the list of sessions has it.') },
      tag: TAG,
      summary: 'End a session of the console or the portal',
      description: 'All processes refuse it within 100 ms. An unknown one gets the same answer.',
      answers: { 204: { description: 'It has ended, or there was none' } },
      errors: [],
      handle: (call) => endSession(deps, call),
    }),
  ]
}

async function ownSessions(deps: ApiDeps, { caller, request }: Call): Promise<View[]> {
  const [console, portal] = await Promise.all([deps.sessions.list(deps.clock()), deps.portalSessions.list()])
  const token = sessionTokenOf(request, deps.settings)
  const own = token === undefined ? undefined : digestOf(token)
  const views: View[] = [
    ...console.map(({ digest, record: { keyId, createdAt, endsAt }, lastUsedAt }) => ({
      ...{ id: digest, kind: 'console' as const, keyId, portal: null, bounds: [] },
      ...{ createdAt: iso(createdAt), lastUsedAt: iso(lastUsedAt), endsAt: iso(endsAt) },
      current: digest === own,
    })),
    ...portal.map(({ digest, record: { id, keyId, prefixes, subscriptions, createdAt, endsAt } }) => ({
      ...{ id: digest, kind: 'portal' as const, keyId, portal: id, bounds: subscriptions ?? prefixes },
      ...{ createdAt: iso(createdAt), lastUsedAt: null, endsAt: iso(endsAt), current: false },
    })),
  ]
  const isOwn = await Promise.all(views.map(({ keyId }) => isOfAccount(deps, keyId, caller)))
  return views.filter((_, n) => isOwn[n])
}

/** A session of a revoked key has ended. */
async function isOfAccount({ keyCache }: ApiDeps, keyId: string, caller: Call['caller']): Promise<boolean> {
  const known = await keyCache.of(keyId)
  return known !== undefined && (caller === null || known.key.account === caller.account)
}

async function endSession(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const digest = params.session ?? ''
  if (!DIGEST.test(digest)) throw FantailError.invalid('session', 'is no id of a session')
  const [console, portal] = await Promise.all([deps.sessions.get(digest), deps.portalSessions.get(digest)])
  const keyId = console?.keyId ?? portal?.keyId
  if (keyId === undefined || !(await isOfAccount(deps, keyId, caller))) return NO_CONTENT
  await (console ? deps.sessions.end(digest) : deps.portalSessions.end(digest))
  deps.sessionCache.forget(digest)
  deps.portalCache.forget(digest)
  return NO_CONTENT
}
