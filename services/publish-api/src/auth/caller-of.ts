/**
 * Finds out who calls the REST API: the holder of an API key, a page of the console with the cookie of a session, or a
 * page of the portal with the token of one. A session acts as the key with which it was made, so the same rules of
 * access apply.
 */
import { bearerOf, type Caller } from '@fantail/access'
import { FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { portalCallerOf } from './portal-caller.ts'
import { portalTokenIn } from './portal-tokens.ts'
import { digestOf, isCsrf, sessionTokenOf } from './session-cookie.ts'
import { needSamePage } from './session-origin.ts'

type Asked = Pick<ApiRequest, 'header' | 'url' | 'isSecure'>
type Tools = Pick<ApiDeps, 'keyCache' | 'sessionCache' | 'portalCache' | 'clock' | 'settings'>

const NO_CSRF = 'the request lacks `X-Fantail-CSRF` with the value that `GET /v1/session` answers'
const ENDED = 'the session has ended: log in again'

/**
 * Throws or rejects with `unauthorized`, and with `forbidden` if another page uses the cookie. `sitesAlone`: the header
 * `X-Fantail-CSRF` is not required.
 */
export function callerOf(
  request: Asked,
  tools: Tools,
  { sitesAlone = false }: { sitesAlone?: boolean | undefined } = {},
): Caller | Promise<Caller> {
  const portalToken = portalTokenIn(request.header('authorization'))
  if (portalToken !== undefined) return portalCallerOf(portalToken, tools)
  const token = sessionTokenOf(request, tools.settings)
  if (token === undefined) return bearerOf(request.header('authorization'), tools.keyCache)
  needSamePage(request)
  return sessionsKey(token, tools, sitesAlone ? undefined : { csrf: request.header('x-fantail-csrf') })
}

/** `given`: the value that the page has sent. undefined: none is required. */
async function sessionsKey(
  token: string,
  { keyCache, sessionCache }: Tools,
  given: { csrf: string | undefined } | undefined,
): Promise<Caller> {
  const session = await sessionCache.use(digestOf(token))
  if (session && given && !isCsrf(given.csrf, session)) throw new FantailError('forbidden', NO_CSRF)
  const known = session && (await keyCache.of(session.keyId))
  if (!known) throw new FantailError('unauthorized', ENDED)
  return known.key
}
