/** Sessions of the console: a browser gives an API key once, and then has a cookie that scripts cannot read. */
import { auditLog, type Caller, type Key, keyOfToken, reportChange } from '@fantail/access'
import { FantailError, type PortalGrant } from '@fantail/contracts'
import { LoginInput, SessionListAnswer, SessionView } from '@fantail/contracts/schemas/access/session-schemas'
import { SESSION_MS_MAX } from '@fantail/store'
import { z } from 'zod'
import {
  digestOf,
  endedCookie,
  makeSessionToken,
  needSafeOrigin,
  sessionCookie,
  sessionTokenOf,
} from '../../auth/session-cookie.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { toFantailError } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'

const TAG = 'Keys'
const PATH = '/v1/session'
const LOG_IN = `POST ${PATH}`

type View = z.input<typeof SessionView>
type Login = Call<unknown, z.output<typeof LoginInput>>

export function sessionRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'logIn',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Make a session of the console',
      description:
        'For pages of this server, over TLS or on loopback. The answer sets a cookie. The session ends after an hour ' +
        'without a request, after 12 hours, or with its key. Five failed logins a minute are allowed for each address.',
      body: LoginInput,
      answers: {
        201: {
          description: 'Made; the session acts with the rights of its key',
          schema: SessionView,
        },
      },
      errors: ['not_supported', 'unauthorized', 'forbidden', 'rate_limited', 'storage_full'],
      handle: (call) => logIn(deps, call),
    }),
    endpoint({
      id: 'getSession',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'Read who the caller is',
      description:
        'Shows the key that the caller acts with, and what a session needs for its further requests.',
      answers: { 200: { description: 'The caller', schema: SessionView } },
      handle: (call) => readSession(deps, call),
    }),
    endpoint({
      id: 'logOut',
      method: 'DELETE',
      path: PATH,
      tag: TAG,
      summary: 'End the session of the console',
      description:
        'Other processes refuse it within 100 ms. A caller without a session gets the same answer.',
      answers: { 204: { description: 'Ended, or there was none' } },
      handle: (call) => logOut(deps, call),
    }),
  ]
}

async function logIn(deps: ApiDeps, call: Login): Promise<Answer> {
  const { requestId, request } = call
  const told = {
    caller: null as Caller,
    requestId,
    action: LOG_IN,
    params: {},
    address: request.remoteAddress,
  }
  try {
    const key = await keyOfLogin(deps, call)
    const answer = await openSession(deps, call, key)
    reportChange(auditLog(deps), { ...told, caller: key, status: answer.status })
    return answer
  } catch (thrown) {
    const { status, code } = toFantailError(thrown)
    reportChange(auditLog(deps), { ...told, status, code })
    throw thrown
  }
}

/**
 * Counts every login before its key is checked, so that guesses at the same time count too. A right key is accepted
 * past the bound, too. Otherwise callers behind one address could keep each other out. A key is too long to be guessed.
 */
async function keyOfLogin({ settings, sessions, keyCache }: ApiDeps, call: Login): Promise<Key> {
  if (!settings.auth)
    throw new FantailError('not_supported', 'this server does not require keys, so it has no login')
  needSafeOrigin(call.request, settings)
  const address = call.request.remoteAddress ?? 'unknown'
  const waitMs = await sessions.countLogin(address)
  try {
    const key = await keyOfToken(call.body.key.trim(), keyCache)
    await sessions.forgiveLogin(address)
    return key
  } catch (error) {
    const isWrong = error instanceof FantailError && error.code === 'unauthorized'
    if (!isWrong || waitMs === null) throw error
    const retryAfterSeconds = Math.ceil(waitMs / 1_000)
    throw new FantailError('rate_limited', 'too many logins failed', { retryAfterSeconds })
  }
}

async function openSession(deps: ApiDeps, { request }: Login, key: Key): Promise<Answer> {
  const [token, csrf] = [makeSessionToken(), makeSessionToken()]
  const createdAt = deps.clock()
  const endsAt = createdAt + SESSION_MS_MAX
  await deps.sessions.make(digestOf(token), { keyId: key.id, csrf, createdAt, endsAt })
  return {
    status: 201,
    body: sessionView(deps, key, { csrfToken: csrf, endsAt: iso(endsAt) }),
    headers: { 'Set-Cookie': sessionCookie(token, needSafeOrigin(request, deps.settings)) },
  }
}

async function readSession(deps: ApiDeps, { caller, request }: Call): Promise<Answer> {
  if (caller === null) return ok(sessionView(deps, null, { csrfToken: null, endsAt: null }))
  const token = sessionTokenOf(request, deps.settings)
  const session = token === undefined ? null : await deps.sessionCache.use(digestOf(token))
  if (!session) return ok(sessionView(deps, caller, { csrfToken: null, endsAt: null }))
  return ok(sessionView(deps, caller, { csrfToken: session.csrf, endsAt: iso(session.endsAt) }))
}

async function logOut({ settings, sessions, sessionCache }: ApiDeps, { request }: Call): Promise<Answer> {
  const token = sessionTokenOf(request, settings)
  if (token === undefined) return NO_CONTENT
  const digest = digestOf(token)
  await sessions.end(digest)
  sessionCache.forget(digest)
  return { ...NO_CONTENT, headers: { 'Set-Cookie': endedCookie(needSafeOrigin(request, settings)) } }
}

type ServerFacts = Pick<ApiDeps, 'settings' | 'vault'>

/** `key`: null if keys are not required. */
function sessionView(
  { settings, vault }: ServerFacts,
  key: Caller,
  session: Pick<View, 'csrfToken' | 'endsAt'>,
): View {
  const { partition, region, account } = settings.arn
  const hasArchives = settings.archive !== undefined
  return {
    keysRequired: key !== null,
    key: key && {
      id: key.id,
      account: key.account,
      scopes: [...key.scopes],
      prefixes: [...key.prefixes],
    },
    ...session,
    server: { partition, region, account, hasMasterKey: vault !== undefined, hasArchives },
  }
}

const DIGEST = /^[0-9a-f]{64}$/
const LINK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type ListedView = z.input<typeof SessionListAnswer>['sessions'][number]

/** Sessions of an account, of console and portal: lists them, and ends one. */
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
      handle: async (call) => ok({ sessions: await ownSessions(deps, call) }),
    }),
    endpoint({
      id: 'endSession',
      method: 'DELETE',
      path: '/v1/sessions/{session}',
      params: {
        session: z
          .string()
          .describe('Id of a session, as the list of sessions has it. Or the id of a portal link.'),
      },
      tag: TAG,
      summary: 'End a session of the console or the portal',
      description:
        'All processes refuse it within 100 ms. The id of a portal link ends its session, and the link if nobody has ' +
        'opened it. An unknown one gets the same answer.',
      answers: { 204: { description: 'It has ended, or there was none' } },
      handle: (call) => endSession(deps, call),
    }),
  ]
}

async function ownSessions(deps: ApiDeps, { caller, request }: Call): Promise<ListedView[]> {
  const [console, portal] = await Promise.all([deps.sessions.list(deps.clock()), deps.portalSessions.list()])
  const token = sessionTokenOf(request, deps.settings)
  const own = token === undefined ? undefined : digestOf(token)
  const views: ListedView[] = [
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
  const known = await keyCache.knownKey(keyId)
  return known !== undefined && (caller === null || known.key.account === caller.account)
}

async function endSession(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const digest = params.session ?? ''
  if (LINK_ID.test(digest)) return endLink(deps, digest, caller)
  if (!DIGEST.test(digest)) throw FantailError.invalid('session', 'is not the id of a session')
  const [console, portal] = await Promise.all([deps.sessions.get(digest), deps.portalSessions.get(digest)])
  const keyId = console?.keyId ?? portal?.keyId
  if (keyId === undefined || !(await isOfAccount(deps, keyId, caller))) return NO_CONTENT
  await (console ? deps.sessions.end(digest) : deps.portalSessions.end(digest))
  deps.sessionCache.forget(digest)
  deps.portalCache.forget(digest)
  return NO_CONTENT
}

/** Whoever made a link has its id, and the session of the link has the same. */
async function endLink(
  { portalSessions, portalCache }: ApiDeps,
  linkId: string,
  caller: Caller,
): Promise<Answer> {
  const isIt = ({ id, account }: PortalGrant) =>
    id === linkId && (caller === null || account === caller.account)
  await portalSessions.endAll(isIt)
  portalCache.clear()
  return NO_CONTENT
}
