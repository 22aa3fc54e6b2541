/**
 * The checks before and after every route of the REST API: who the caller is, whether its limit and rights allow the
 * call, and which items of a list it may see. It also writes the audit line of a change. If keys are not required
 * (local mode, on loopback), every caller may do everything.
 */
import {
  Access,
  auditLog,
  bearerOf,
  type Caller,
  Cursors,
  type Key,
  needAllNames,
  needScope,
  needServer,
  reportChange,
  type Target,
} from '@fantail/access'
import {
  FantailError,
  isQueueName,
  isTopicName,
  queueArn,
  REQUEST_BYTES_MAX,
  topicArn,
} from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import type { Answer, Call, Endpoint } from '../http/endpoint.ts'
import { createForeignPages, type ForeignPages } from './foreign-page.ts'
import { ruleOf } from './native-rules.ts'
import { ownPage } from './own-lists.ts'
import { portalCallerOf, portalTokenIn } from './portal-caller.ts'
import type { RouteRule } from './route-rule.ts'
import { digestOf, isCsrf, needSamePage, sessionTokenOf } from './session-cookie.ts'

export interface RouteGuard {
  /** The largest body that the route reads, unless it names another bound itself. */
  bytesMax: number
  /**
   * Finds the caller before the body is read. Throws or rejects with `unauthorized`, or with `forbidden` for another
   * site's page.
   */
  identify(request: ApiRequest): Caller | Promise<Caller>
  /**
   * Checks the limit, the scopes and the kind of the key. Throws or rejects with `forbidden` or `rate_limited`. This is
   * a separate step, so that the audit line of a refusal names the key.
   */
  admit(caller: Caller): void | Promise<void>
  /** Checks the input's targets before anything is done. Throws or rejects with `forbidden`. */
  permit(call: Call): void | Promise<void>
  /** Calls the handler. Returns its answer without items that the caller may not see. */
  answer(call: Call, handle: Endpoint['handle']): Answer | Promise<Answer>
  /** Logs a change, made or refused. */
  report(call: Told, outcome: { status: number; code?: string; body?: unknown; denied?: boolean }): void
}

type Told = Pick<Call, 'caller' | 'requestId' | 'params' | 'request'>

export function createGuard(deps: ApiDeps): (endpoint: Endpoint) => RouteGuard {
  const access = new Access(deps)
  const foreign = createForeignPages(deps.settings)
  const cursors = new Cursors(deps.keys)
  return (endpoint) => guardOf(endpoint, ruleOf(endpoint), { deps, access, foreign, cursors })
}

interface Tools {
  deps: ApiDeps
  access: Access
  foreign: ForeignPages
  cursors: Cursors
}

/** @limit Body of a request to a route that needs no key. Past it: `too_large`. */
const PUBLIC_BYTES_MAX = 4_096

const NOBODY_ASKED: Pick<RouteGuard, 'identify' | 'admit' | 'permit' | 'answer'> = {
  identify: () => null,
  admit: () => undefined,
  permit: () => undefined,
  answer: (call, handle) => handle(call),
}

function guardOf(endpoint: Endpoint, rule: RouteRule, { deps, access, foreign, cursors }: Tools): RouteGuard {
  const log = auditLog(deps)
  const report: RouteGuard['report'] = rule.change
    ? ({ params, request: { remoteAddress: address }, ...call }, { status, code, body, denied }) => {
        const action = `${endpoint.method} ${endpoint.path}`
        const shown = { ...params, ...madeIn(body) }
        reportChange(log, { ...call, address, action, params: shown, status, code, denied })
      }
    : () => undefined
  const open = rule.need === 'public' || rule.need === 'own' || (rule.isMetrics && deps.settings.openMetrics)
  const bytesMax = rule.need === 'public' ? PUBLIC_BYTES_MAX : REQUEST_BYTES_MAX
  if (open) return { ...NOBODY_ASKED, bytesMax, identify: openTo(rule, foreign), report }
  if (!deps.settings.auth)
    return { ...NOBODY_ASKED, bytesMax, identify: (request) => notForeign(request, foreign), report }
  return {
    bytesMax,
    identify: (request) => callerOf(request, deps, rule),
    admit: (caller) => admit(caller, rule, deps),
    permit: (call) => {
      const { caller, params } = call
      if (caller === null) return
      if (caller.account !== deps.settings.arn.account) nameInFull(params, caller, deps)
      return permitAll(rule.targets?.(call, deps) ?? [], { key: caller, request: call.request, access })
    },
    answer: (call, handle) => {
      const { caller: key } = call
      if (!key) return handle(call)
      if (rule.list) return ownPage({ call, key, handle }, rule.list, cursors)
      return handle(
        rule.asks ? { ...call, mayDo: (target) => mayDo(target, { key, access, ...call }) } : call,
      )
    },
    report,
  }
}

/** The routes of the AWS protocols check the caller themselves, because their refusals need SNS's or SQS's form. */
function openTo({ need, samePage }: RouteRule, foreign: ForeignPages): RouteGuard['identify'] {
  if (need === 'own') return NOBODY_ASKED.identify
  return (request) => {
    foreign.refuseHost(request)
    if (samePage) needSamePage(request)
    return null
  }
}

function notForeign(request: ApiRequest, foreign: ForeignPages): null {
  foreign.refusePage(request)
  return null
}

/**
 * The id of the object that was created, which the path does not have yet, the words of a bulk task, and the digests of
 * an edited text.
 */
function madeIn(body: unknown): Record<string, string> {
  const members = (body ?? {}) as Record<string, unknown>
  const shown = ['id', 'words', 'originalSha256', 'editedSha256'].map(
    (name) => [name, members[name]] as const,
  )
  return Object.fromEntries(shown.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

const FOR_PORTAL = 'this is for sessions of the portal'
const NOT_FOR_PORTAL = 'sessions of the portal may call /v1/portal only'

/** Requests that are refused because of a missing scope count against the limit too. */
function admit(caller: Caller, rule: RouteRule, { rateLimits, settings }: ApiDeps): void | Promise<void> {
  const counted = rateLimits.admit(caller)
  if (counted) return counted.then(() => checkScope(caller, rule, settings))
  checkScope(caller, rule, settings)
}

function checkScope(
  caller: Caller,
  { need, wholeAccount, wholeServer, portal }: RouteRule,
  settings: ApiDeps['settings'],
): void {
  if (caller === null) return
  if ((caller.portal !== undefined) !== (portal === true))
    throw new FantailError('forbidden', portal ? FOR_PORTAL : NOT_FOR_PORTAL)
  if (typeof need === 'string') return
  needScope(caller, need)
  if (wholeAccount) needAllNames(caller)
  if (wholeServer) needServer(caller, settings.arn.account)
}

/** A plain name in a path belongs to the key's account. */
function nameInFull(params: Record<string, string>, { account }: Key, { settings }: ApiDeps): void {
  const place = { ...settings.arn, account }
  const { topic, queue } = params
  if (topic !== undefined && isTopicName(topic)) params.topic = topicArn(topic, place)
  if (queue !== undefined && isQueueName(queue)) params.queue = queueArn(queue, place)
}

interface Asked {
  key: Key
  request: ApiRequest
  access: Access
}

type Targets = Awaited<ReturnType<NonNullable<RouteRule['targets']>>>

function permitAll(targets: Targets | Promise<Targets>, asked: Asked): void | Promise<void> {
  if (targets instanceof Promise) return targets.then((found) => permitEach(found, asked))
  return permitEach(targets, asked)
}

/** Targets are checked one after the other. The refusal of a later one must not show that an earlier one exists. */
function permitEach(targets: Targets, asked: Asked, from = 0): void | Promise<void> {
  const { key, request, access } = asked
  for (let n = from; n < targets.length; n++) {
    const pending = access.permit(key, targets[n] as Target, request)
    if (pending) return pending.then(() => permitEach(targets, asked, n + 1))
  }
}

async function mayDo(target: Target, { key, request, access }: Asked): Promise<boolean> {
  try {
    await access.permit(key, target, request)
    return true
  } catch (error) {
    if (error instanceof FantailError && error.code === 'forbidden') return false
    throw error
  }
}

type Sender = Pick<ApiRequest, 'header' | 'url' | 'isSecure'>
type CallerTools = Pick<ApiDeps, 'keyCache' | 'sessionCache' | 'portalCache' | 'clock' | 'settings'>

const NO_CSRF = 'the request lacks `X-Fantail-CSRF` with the value that `GET /v1/session` answers'
const ENDED = 'the session has ended: log in again'

/**
 * Finds out who calls the REST API: the holder of an API key, a page of the console with the cookie of a session, or a
 * page of the portal with the token of one. A session acts as the key with which it was made, so the same rules of
 * access apply. Throws or rejects with `unauthorized`, and with `forbidden` if another page uses the cookie.
 * `sitesAlone`: the header `X-Fantail-CSRF` is not required.
 */
function callerOf(
  request: Sender,
  tools: CallerTools,
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
  { keyCache, sessionCache }: CallerTools,
  given: { csrf: string | undefined } | undefined,
): Promise<Caller> {
  const session = await sessionCache.use(digestOf(token))
  if (session && given && !isCsrf(given.csrf, session)) throw new FantailError('forbidden', NO_CSRF)
  const known = session && (await keyCache.knownKey(session.keyId))
  if (!known) throw new FantailError('unauthorized', ENDED)
  return known.key
}
