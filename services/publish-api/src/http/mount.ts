/** Mounts endpoints on Hono: each is one handler without middleware, because a lone handler is Hono's fastest way. */
import { randomUUID } from 'node:crypto'
import { FantailError } from '@fantail/contracts'
import type { Context, Hono } from 'hono'
import type { ApiDeps } from '../deps.ts'
import type { Answer, Endpoint } from './endpoint.ts'
import { errorResponse, toFantailError } from './errors.ts'
import { readInput } from './validate.ts'

export interface Variables {
  requestId: string
  startedAt: number
}

export type App = Hono<{ Variables: Variables }>
type ApiContext = Context<{ Variables: Variables }>
type Tools = Pick<ApiDeps, 'log'>

const REQUEST_ID = /^[A-Za-z0-9._:@/-]{1,128}$/

/** Mounts all of them, with 405 for a known path's other methods, 404 for the rest, and the one error shape. */
export function mount(app: App, endpoints: Endpoint[], tools: Tools): void {
  for (const endpoint of endpoints) {
    app.on(endpoint.method, honoPath(endpoint.path), (context) => answer(endpoint, context, tools))
  }
  const paths = allowedMethods(endpoints)
  app.notFound((context) => {
    begin(context)
    return fail(noRoute(context, paths), context, tools)
  })
  app.onError((thrown, context) => fail(thrown, context, tools))
}

/** `/v1/topics/{topic}` as `/v1/topics/:topic`. */
export function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function begin(context: ApiContext): string {
  const given = context.req.raw.headers.get('x-request-id')
  const requestId = given !== null && REQUEST_ID.test(given) ? given : randomUUID()
  context.set('requestId', requestId)
  context.set('startedAt', performance.now())
  return requestId
}

async function answer(endpoint: Endpoint, context: ApiContext, tools: Tools): Promise<Response> {
  const requestId = begin(context)
  const request = context.req.raw
  const { query, body } = await readInput(endpoint, request)
  const params = context.req.param() as Record<string, string>
  const result = await endpoint.handle({ request, requestId, params, query, body })
  finish(context, result.status, tools)
  return toResponse(result, requestId)
}

function toResponse({ status, body, text, headers }: Answer, requestId: string): Response {
  if (text !== undefined) {
    return new Response(text, { status, headers: { ...headers, 'X-Request-Id': requestId } })
  }
  if (body === undefined)
    return new Response(null, { status, headers: { ...headers, 'X-Request-Id': requestId } })
  const all = { 'Content-Type': 'application/json', ...headers, 'X-Request-Id': requestId }
  return new Response(JSON.stringify(body), { status, headers: all })
}

function fail(thrown: unknown, context: ApiContext, tools: Tools): Response {
  const error = toFantailError(thrown)
  const requestId = context.get('requestId') ?? begin(context)
  if (error.code === 'internal') {
    tools.log.error({ requestId, path: context.req.path, err: error.cause }, 'request.failed')
  }
  finish(context, error.status, tools, error.code)
  const response = errorResponse(error, requestId)
  if (error instanceof MethodNotAllowed) response.headers.set('Allow', error.allow)
  return response
}

function finish(context: ApiContext, status: number, { log }: Tools, code?: string): void {
  const method = context.req.method
  const durationMs = Math.round((performance.now() - context.get('startedAt')) * 10) / 10
  const requestId = context.get('requestId')
  log.debug(
    { requestId, method, path: context.req.path, status, durationMs, ...(code && { code }) },
    'request',
  )
}

class MethodNotAllowed extends FantailError {
  readonly allow: string

  constructor(allow: string) {
    super('method_not_allowed', `this path takes ${allow}`)
    this.allow = allow
  }
}

interface AllowedMethods {
  path: RegExp
  methods: string[]
}

function allowedMethods(endpoints: Endpoint[]): AllowedMethods[] {
  const byPath = new Map<string, string[]>()
  for (const { path, method } of endpoints) {
    const methods = byPath.get(path) ?? []
    byPath.set(path, method === 'GET' ? [...methods, 'GET', 'HEAD'] : [...methods, method])
  }
  return Array.from(byPath, ([path, methods]) => ({
    path: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    methods,
  }))
}

function noRoute(context: ApiContext, paths: AllowedMethods[]): FantailError {
  const known = paths.find(({ path }) => path.test(context.req.path))
  if (known) return new MethodNotAllowed(known.methods.join(', '))
  return new FantailError('not_found', `nothing at ${context.req.path}`)
}
