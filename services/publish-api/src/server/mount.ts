/** Mounts endpoints on Hono. Each is one handler without middleware, because Hono is fastest with a single handler. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Caller } from '@fantail/access'
import { FantailError, REQUEST_BYTES_MAX } from '@fantail/contracts'
import type { Context, Hono } from 'hono'
import { createGuard, type RouteGuard } from '../auth/guard.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { securityHeaders } from '../http/answer-headers.ts'
import { ApiRequest } from '../http/api-request.ts'
import { createReachedBy, type ReachedBy } from '../http/client-address.ts'
import type { Answer, Call, Endpoint } from '../http/endpoint.ts'
import { errorResponse, toFantailError, Unseen } from '../http/error-answers.ts'
import { msSince } from '../http/log.ts'
import { readInput } from '../http/read-input.ts'
import { type CountedAs, NO_ROUTE, RequestTimes } from '../http/request-times.ts'

export interface Bindings {
  /** Node's own message. */
  incoming?: IncomingMessage
}

export type App = Hono<{ Bindings: Bindings }>
type ApiContext = Context<{ Bindings: Bindings }>
type Begun = Pick<Call, 'request' | 'requestId' | 'startedAt'>

interface Route {
  endpoint: Endpoint
  guard: RouteGuard
}

interface Tools extends Pick<ApiDeps, 'log'> {
  reachedBy: ReachedBy
  times: RequestTimes
  headers: Readonly<Record<string, string>>
}

const REQUEST_ID = /^[A-Za-z0-9._:@/-]{1,128}$/

/** Mounts all endpoints. Other methods of known paths get 405, unknown paths 404, and all errors have one form. */
export function mount(app: App, endpoints: Endpoint[], deps: ApiDeps): void {
  const tools: Tools = {
    log: deps.log,
    reachedBy: createReachedBy(deps.settings.trustedProxies),
    times: new RequestTimes(deps.metrics.httpRequestSeconds),
    headers: securityHeaders(deps.settings.tlsCertFile !== undefined),
  }
  const guardOf = createGuard(deps)
  const routes = endpoints.map((endpoint): Route => ({ endpoint, guard: guardOf(endpoint) }))
  for (const route of routes) {
    const { method, path, where } = route.endpoint
    if (where) continue
    app.on(method, honoPath(path), (context) =>
      answer(route, { context, params: context.req.param() }, tools),
    )
  }
  const last = lastResort(routes)
  const paths = allowedMethods(endpoints)
  app.notFound((context) => {
    const found = last(context)
    if (found) return answer(found.route, found, tools)
    return fail(noRoute(context, paths), { ...begin(context, tools), context, countedAs: NO_ROUTE }, tools)
  })
  app.onError((thrown, context) =>
    fail(thrown, { ...begin(context, tools), context, countedAs: NO_ROUTE }, tools),
  )
}

/** Turns `/v1/topics/{topic}` into `/v1/topics/:topic`. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function begin(context: ApiContext, { reachedBy }: Tools, bytesMax = REQUEST_BYTES_MAX): Begun {
  // `app.request()` passes no bindings, although the types say so.
  const request = new ApiRequest(context.req.raw, context.env?.incoming, { bytesMax, reachedBy })
  const given = request.header('x-request-id')
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID()
  return { request, requestId, startedAt: performance.now() }
}

interface Matched {
  context: ApiContext
  params: Record<string, string>
}

async function answer(
  { endpoint, guard }: Route,
  { context, params }: Matched,
  tools: Tools,
): Promise<Response> {
  const begun = begin(context, tools, guard.bytesMax)
  const { request, requestId, startedAt } = begun
  let caller: Caller = null
  try {
    const identified = guard.identify(request)
    caller = identified instanceof Promise ? await identified : identified
    const admitted = guard.admit(caller)
    if (admitted) await admitted
    const input = readInput(endpoint, request)
    const { query, body } = input instanceof Promise ? await input : input
    const call: Call = { request, caller, requestId, startedAt, params, query, body }
    const permitted = guard.permit(call)
    if (permitted) await permitted
    if (endpoint.streams) call.recheck = recheckOf(guard, call)
    const result = await guard.answer(call, endpoint.handle)
    guard.report(call, result)
    const { status, countedAs = endpoint } = result
    finish({ requestId, startedAt, context, countedAs, status }, tools)
    return toResponse(result, { ...tools.headers, ...result.headers, 'X-Request-Id': requestId })
  } catch (thrown) {
    const { status, code } = toFantailError(thrown)
    const unseen = thrown instanceof Unseen ? thrown : undefined
    const told = { caller, requestId, params, request }
    guard.report(told, { status: unseen?.answer?.status ?? status, code, ...(unseen && { denied: true }) })
    if (unseen?.answer) {
      finish({ requestId, startedAt, context, countedAs: endpoint, status: unseen.answer.status }, tools)
      return toResponse(unseen.answer, { ...tools.headers, 'X-Request-Id': requestId })
    }
    const { inWords } = endpoint
    const shown = inWords ? inWords(toFantailError(thrown, endpoint.method)) : thrown
    return fail(shown, { ...begun, context, countedAs: endpoint }, tools)
  }
}

/** Repeats the checks of the caller and its rights, but not the check of its limit. */
function recheckOf(guard: RouteGuard, call: Call): () => Promise<void> {
  return async () => {
    const caller = await guard.identify(call.request)
    await guard.permit({ ...call, caller })
  }
}

function toResponse(
  { status, body, text, stream, omits = [] }: Answer,
  headers: Record<string, string>,
): Response {
  for (const name of omits) delete headers[name]
  if (stream !== undefined) return new Response(stream, { status, headers })
  if (text !== undefined) return new Response(text, { status, headers })
  if (body === undefined) return new Response(null, { status, headers })
  headers['Content-Type'] ??= 'application/json'
  return new Response(JSON.stringify(body), { status, headers })
}

interface Under extends Pick<Begun, 'requestId' | 'startedAt'> {
  context: ApiContext
  countedAs: CountedAs
}

function fail(thrown: unknown, under: Under, tools: Tools): Response {
  const { requestId, context } = under
  const error = toFantailError(thrown, context.req.method)
  if (error.code === 'internal') {
    tools.log.error({ requestId, path: context.req.path, err: error.cause }, 'request.failed')
  }
  finish({ ...under, status: error.status, code: error.code }, tools)
  const response = errorResponse(error, requestId, tools.headers)
  if (error.code === 'unauthorized') response.headers.set('WWW-Authenticate', 'Bearer')
  if (error instanceof MethodNotAllowed) response.headers.set('Allow', error.allow)
  return response
}

interface Finished extends Under {
  status: number
  code?: string
}

function finish({ requestId, startedAt, context, countedAs, ...outcome }: Finished, tools: Tools): void {
  const { log, times } = tools
  times.of(countedAs).record(outcome.status, performance.now() - startedAt)
  if (!log.isLevelEnabled('debug')) return
  const { method, path } = context.req
  log.debug({ requestId, method, path, ...outcome, durationMs: msSince(startedAt) }, 'request')
}

class MethodNotAllowed extends FantailError {
  readonly allow: string

  constructor(allow: string) {
    super('method_not_allowed', `this path takes ${allow}`)
    this.allow = allow
  }
}

type LastResort = (context: ApiContext) => (Matched & { route: Route }) | undefined

/**
 * Routes with patterns. Hono's fastest router does not allow them together with fixed paths, and a slower one would
 * serve all routes.
 */
function lastResort(all: Route[]): LastResort {
  const routes = all
    .filter(({ endpoint }) => endpoint.where !== undefined)
    .map((route) => ({ route, path: pathPattern(route.endpoint) }))
  return (context) => {
    const method = context.req.method === 'HEAD' ? 'GET' : context.req.method
    for (const { route, path } of routes) {
      const match = route.endpoint.method === method ? path.exec(context.req.path) : null
      if (match) return { route, context, params: { ...match.groups } }
    }
    return undefined
  }
}

/** A pattern that matches a whole path. Its groups are the parameters. */
export function pathPattern({ path, where = {} }: Pick<Endpoint, 'path' | 'where'>): RegExp {
  const parameters = (_: string, name: string) => `(?<${name}>${where[name] ?? '[^/]+'})`
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, parameters)}$`)
}

interface AllowedMethods {
  path: RegExp
  methods: string[]
}

function allowedMethods(endpoints: Endpoint[]): AllowedMethods[] {
  const byPath = new Map<string, AllowedMethods>()
  for (const endpoint of endpoints) {
    const { path, method } = endpoint
    const { methods } = byPath.get(path) ?? { methods: [] }
    const added = method === 'GET' ? ['GET', 'HEAD'] : [method]
    byPath.set(path, { path: pathPattern(endpoint), methods: [...methods, ...added] })
  }
  return [...byPath.values()]
}

function noRoute(context: ApiContext, paths: AllowedMethods[]): FantailError {
  const known = paths.find(({ path }) => path.test(context.req.path))
  if (known) return new MethodNotAllowed(known.methods.join(', '))
  return new FantailError('not_found', `nothing at ${context.req.path}`)
}
